package io.pyflow.execution.rows

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.pyflow.RunningTask
import org.apache.spark.sql.types.DataType

import io.pyflow.admission.ContentionMeter
import io.pyflow.bridge.{InterpreterKind, LentMemoryException, PythonProgram}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.task.RowFunctions
import io.pyflow.spec.ProgramSpec

/**
 * Evaluates the functions of one operator over the bundles of one task, and measures that. Called by
 * one thread at a time, per bundle rather than per row.
 */
private[rows] class BundleEvaluation(
    spec: ProgramSpec,
    settings: ThreadModeSettings,
    outputTypes: Seq[DataType],
    context: TaskContext,
    metrics: EvaluationMetrics,
    meter: Option[ContentionMeter])
  extends BundleEvaluator {

  private val functions =
    new RowFunctions(spec, settings, context, measure(_, _), Some(metrics.ofFunctions))
  private var evaluated = Option.empty[PythonProgram]
  private lazy val deferred = new DeferredColumns(outputTypes)

  /** Loads the functions; they may be refused here while a worker can still take their input. */
  def openNow(): Unit = functions.openNow()

  override def throwIfKilled(): Unit = RunningTask.throwIfKilled(context)

  override def evaluate(address: Long, rows: Int, endsBatch: Boolean): Unit =
    evaluated = Some(functions.evaluate(address, rows, endsBatch))

  override def rowsDone: Int = results.rowsDone

  override def inputBytesDone: Long = results.inputBytesDone

  override def outputAddress: Long = results.outputAddress

  private def results: PythonProgram =
    evaluated.getOrElse(throw SparkException.internalError("no rows have been evaluated"))

  override def resolveDeferred(row: UnsafeRow, ordinals: Long, count: Int): InternalRow =
    deferred.resolve(row, ordinals, count)

  override def refused(bytes: Long): LentMemoryException = functions.refused(bytes)

  override def countRowsOut(rows: Int): Unit = metrics.outputRows.add(rows)

  override def inputExhausted(): Unit = functions.finish()

  override def interrupt(): Unit = functions.interrupt()

  override def close(): Unit = {
    evaluated = None
    functions.close()
  }

  private def measure(program: PythonProgram, interpreter: InterpreterKind): Unit = {
    metrics.bundles.add(1)
    metrics.conversionTime.add(program.conversionNanos)
    metrics.calls.add(program.times, interpreter, meter)
  }
}
