package io.pyflow.execution.expressions

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.Platform

import io.pyflow.bridge.InputBundle
import io.pyflow.execution.rows.{BatchEnds, DeferredColumns}
import io.pyflow.execution.task.{RowFunctions, SingleEntry}

/**
 * Evaluates functions in one task, one row at a time.
 *
 * @param batches which of the rows are one Arrow batch
 */
private[execution] class EmbeddedEvaluation(
    functions: RowFunctions,
    batches: BatchEnds,
    resultTypes: Seq[DataType],
    context: TaskContext) {

  private val bundle = new InputBundle(functions.refused(_))
  private val row = new UnsafeRow(resultTypes.length)
  private lazy val deferredColumns = new DeferredColumns(resultTypes)
  private val entry = new SingleEntry(() => functions.interrupt(), () => release())

  /** Whether a result may lie in memory that the next evaluation takes. */
  private val refersToMemory = !resultTypes.forall(UnsafeRow.isFixedLength)

  private var last: InternalRow = row

  context.addTaskCompletionListener[Unit](_ => entry.close())

  /** Loads the functions before the first call, unless the task has ended. */
  def openNow(): Unit = entry.run(() => functions.openNow())

  /** What the functions returned for the last row. */
  def results: InternalRow = last

  def evaluate(input: UnsafeRow): Unit = {
    if (!entry.enter()) {
      throw new SparkException("the task of these Python functions has ended")
    }
    try {
      bundle.clear()
      bundle.add(input)
      last = result(functions.evaluate(bundle.address, 1, batches.endsAfter(1)).outputAddress)
    } finally entry.leave()
  }

  private def result(address: Long): InternalRow = {
    // As BundleEvaluator.outputAddress says.
    val size = Platform.getInt(None.orNull, address)
    val deferred = Platform.getInt(None.orNull, address + Integer.BYTES)
    val start = address + 2 * Integer.BYTES
    row.pointTo(None.orNull, start, size)
    if (deferred > 0) deferredColumns.resolve(row, start + size, deferred).copy()
    else if (refersToMemory) row.copy()
    else row
  }

  private def release(): Unit =
    try functions.close()
    finally bundle.free()
}
