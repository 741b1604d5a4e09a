package io.pyflow.execution.rows

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.pyflow.admission.ContentionMeter
import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.ProgramSpec

/** Evaluates the functions of one operator over the rows of one task. */
private[rows] class RowEvaluation(
    spec: ProgramSpec,
    settings: ThreadModeSettings,
    outputTypes: Seq[DataType],
    context: TaskContext,
    metrics: EvaluationMetrics,
    meter: Option[ContentionMeter]) {

  /**
   * The output rows for input rows.
   *
   * @param projectAll whether every input row must be projected
   * @param newProjection makes the projection from an input row to what Python gets
   */
  def ofRows(
      input: Iterator[InternalRow],
      projectAll: Boolean,
      newProjection: () => UnsafeProjection): Iterator[InternalRow] =
    results(input, input.hasNext, BatchEnds.every(spec.arrowBatchRows), projectAll, newProjection)

  /** The output rows for the rows of batches. */
  def ofBatches(
      input: Iterator[ColumnarBatch],
      newProjection: () => UnsafeProjection): Iterator[InternalRow] = {
    val rows = new RowsOfBatches(input)
    results(rows, input.hasNext, rows, projectAll = true, newProjection)
  }

  /** @param hasRows whether there are some; to ask takes none from whom they come */
  private def results(
      input: Iterator[InternalRow],
      hasRows: => Boolean,
      batches: BatchEnds,
      projectAll: Boolean,
      newProjection: () => UnsafeProjection): Iterator[InternalRow] = {
    val evaluation = new BundleEvaluation(spec, settings, outputTypes, context, metrics, meter)
    val rows = new BundleIterator(
      input,
      batches,
      projectAll,
      () => newProjection(),
      outputTypes.length,
      evaluation,
      new BundleSize(settings.bundleRows, settings.bundleMillis))
    context.addTaskCompletionListener[Unit](_ => rows.close())
    if (spec.mayBeRefused && hasRows) rows.first(() => evaluation.openNow())
    rows
  }
}
