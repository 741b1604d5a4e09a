package io.pyflow.execution.expressions

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.pyflow.ArrowResults
import org.apache.spark.sql.types.DataType

import io.pyflow.execution.batches.ArrowLane

/**
 * Evaluates scalar functions over Arrow batches in one task, each row as a batch of its own. Such
 * functions return a batch before they ask for the next.
 */
private[expressions] class EmbeddedBatchEvaluation(
    lane: ArrowLane,
    resultTypes: Seq[DataType],
    context: TaskContext) {

  private var waiting = Option.empty[InternalRow]
  private var ended = false

  private val input = new Iterator[Iterator[InternalRow]] {
    override def hasNext: Boolean = !ended

    override def next(): Iterator[InternalRow] = {
      val row = waiting.getOrElse(
        throw SparkException.internalError("a function asks for a row before it has returned one"))
      waiting = None
      Iterator.single(row)
    }
  }

  private val output = ArrowResults.ofColumns(lane.batches(input), resultTypes)
  private val toUnsafe = UnsafeProjection.create(resultTypes.toArray)
  private var last: InternalRow = InternalRow.empty

  // Accumulators are counted when the functions have come to their end. This is called before the
  // listener with which the lane closes them.
  context.addTaskCompletionListener[Unit] { _ =>
    if (!context.isFailed() && !context.isInterrupted()) {
      ended = true
      output.hasNext
    }
  }

  /** What the functions returned for the last row. */
  def results: InternalRow = last

  def evaluate(row: UnsafeRow): Unit = {
    waiting = Some(row)
    last = toUnsafe(output.next()).copy()
  }
}
