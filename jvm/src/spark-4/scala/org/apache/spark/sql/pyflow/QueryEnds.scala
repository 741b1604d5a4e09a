package org.apache.spark.sql.pyflow

import org.apache.spark.sql.execution.streaming.runtime.{MicroBatchExecution, MicroBatchExecutionContext, MultiBatchExecutor, SingleBatchExecutor, StreamingQueryWrapper, TriggerExecutor}
import org.apache.spark.sql.streaming.StreamingQuery

/** Ends streaming queries between two batches, where `StreamingQuery.stop()` interrupts a batch. */
object QueryEnds {
  private val UntilLookedAgainMillis = 10
  private val UntilInterruptedMillis = 500

  /** Makes the batch that runs the last one of a query. */
  def afterBatch(query: StreamingQuery): Unit = execution(query).foreach(endAfterBatch)

  /**
   * Waits for the last batch of a query, which may then be stopped.
   *
   * @return whether it has ended, or runs none, within some time
   */
  def awaitBatch(query: StreamingQuery, millis: Long): Boolean =
    execution(query).forall { running =>
      val thread = running.queryExecutionThread
      val end = System.nanoTime() + millis * 1000000
      def isIdle = !running.status.isTriggerActive
      var isDone = !thread.isAlive
      while (!isDone && System.nanoTime() < end) {
        endAfterBatch(running) // Again: a query makes its executor when it is initialised.
        val wasIdle = isIdle
        thread.join(UntilLookedAgainMillis)
        if (wasIdle && isIdle) {
          QueryStates.end(running)
          // It may wait for the time of its next batch.
          thread.join(UntilInterruptedMillis)
          isDone = true
        }
        isDone ||= !thread.isAlive
      }
      // A batch may have begun after all: Spark interrupts it, and leaves its tasks.
      if (isDone) running.sparkSession.sparkContext.cancelJobGroup(running.runId.toString)
      isDone
    }

  private def endAfterBatch(running: MicroBatchExecution): Unit = running.triggerExecutor match {
    case null | _: LastBatch =>
    case _: MultiBatchExecutor =>
      running.triggerExecutor = new MultiBatchExecutor with LastBatch {
        override def query: MicroBatchExecution = running
      }
    case _ =>
      running.triggerExecutor = new SingleBatchExecutor with LastBatch {
        override def query: MicroBatchExecution = running
      }
  }

  private def execution(query: StreamingQuery): Option[MicroBatchExecution] = query match {
    case wrapper: StreamingQueryWrapper => execution(wrapper.streamingQuery)
    case batches: MicroBatchExecution => Some(batches)
    case _ => None
  }

  /** In place of what runs a query's batches, which it tells of the next one after each commit. */
  private trait LastBatch extends TriggerExecutor {
    def query: MicroBatchExecution

    override def setNextBatch(context: MicroBatchExecutionContext): Unit = {
      super.setNextBatch(context)
      QueryStates.end(query)
    }
  }
}
