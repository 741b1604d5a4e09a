package io.pyflow.execution.batches

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.pyflow.{PythonErrors, RunningTask}
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.pyflow.admission.ContentionMeter
import io.pyflow.arrow.{ImportedBatches, TaskInput}
import io.pyflow.bridge.{BatchSource, InterpreterKind, PythonProgram, PythonStream}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.task.{FunctionLoading, PythonMemory, SingleEntry, TaskSlot}
import io.pyflow.spec.FunctionsSpec

/**
 * The batches that the functions of one operator make in one task. Every batch is asked for: Python
 * then asks the source for as much input as it needs. A batch is valid until the next one.
 *
 * The iterator may be driven by another thread than the task's, and the task may end while it is:
 * see [[SingleEntry]].
 */
private[execution] class StreamEvaluation(
    spec: FunctionsSpec,
    settings: ThreadModeSettings,
    source: TaskInput,
    context: TaskContext,
    metrics: StreamMetrics,
    meter: Option[ContentionMeter])
  extends Iterator[ColumnarBatch] {

  private val entry = new SingleEntry(() => slot.foreach(_.interrupt()), () => release())
  private val imported = new ImportedBatches
  private var stream = Option.empty[PythonStream]
  private var upcoming = Option.empty[ColumnarBatch]
  private var ended = false
  @volatile private var slot = Option.empty[TaskSlot]

  context.addTaskCompletionListener[Unit](_ => entry.close())

  override def hasNext: Boolean = entry.enter() && {
    try {
      if (upcoming.isEmpty && !ended) {
        upcoming = advance()
        ended = upcoming.isEmpty
      }
      upcoming.isDefined && !entry.isClosed
    } finally entry.leave()
  }

  override def next(): ColumnarBatch = {
    if (!hasNext) {
      throw new NoSuchElementException("there are no more batches, or the task has ended")
    }
    val batch = upcoming.get
    upcoming = None
    batch
  }

  private def advance(): Option[ColumnarBatch] = {
    RunningTask.throwIfKilled(context)
    val functions = stream.getOrElse(load())
    val array = imported.newArray()
    val outcome =
      try slot.get.run(spec.functionNames)(functions.next(array))
      catch {
        case e: Throwable =>
          imported.giveBack(array)
          throw e
      }
    metrics.batches.add(1)
    metrics.pythonTime.add(functions.times.pythonNanos)
    metrics.gilWaitTime.add(functions.times.gilWaitNanos)
    meter.foreach(_.add(functions.times))
    PythonMemory.sample(metrics.pythonMemory)
    metrics.lentMemory.set(source.peakLentBytes)
    if (outcome == PythonProgram.DONE && functions.rows != BatchSource.END) {
      metrics.outputRows.add(functions.rows)
      Some(imported.take(array, functions))
    } else {
      imported.giveBack(array)
      outcome match {
        case PythonProgram.DONE =>
          spec.addAccumulatorUpdates(
            slot.get.run(spec.functionNames)(functions.accumulatorUpdates()).toSeq)
          None
        case PythonProgram.INTERRUPTED => slot.get.throwInterrupted(spec.functionNames)
        case PythonProgram.ERROR => throw PythonErrors.raisedByFunction(functions.error)
        case other => throw SparkException.internalError(s"unexpected outcome $other")
      }
    }
  }

  private def load(): PythonStream = {
    FunctionLoading.prepare(spec, settings)
    val leased = new TaskSlot(context, InterpreterKind.SHARED, settings)
    val batches: BatchSource = array => leased.waiting(RunningTask.in(context)(source.next(array)))
    val loaded = FunctionLoading.into(leased, spec, context)(leased.loadStream(_, batches))
    slot = Some(leased)
    stream = Some(loaded)
    loaded
  }

  private def release(): Unit = {
    upcoming = None
    try {
      for (leased <- slot; functions <- stream) leased.close(spec.functionNames, functions)
    } finally {
      source.close()
      imported.close()
    }
  }
}
