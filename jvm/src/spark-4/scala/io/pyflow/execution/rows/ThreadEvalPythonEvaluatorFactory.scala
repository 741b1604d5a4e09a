package io.pyflow.execution.rows

import scala.jdk.CollectionConverters._

import org.apache.spark.{PartitionEvaluator, PartitionEvaluatorFactory}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.pyflow.admission.{FunctionAdmission, FunctionIdentity}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.fallback.WorkerEvaluation
import io.pyflow.spec.{ProgramSpec, RowBinding}

/**
 * Evaluates the functions of [[ThreadEvalPythonExec]] over a partition: in this JVM or, if they are not
 * admitted there, in Spark's Python workers.
 */
class ThreadEvalPythonEvaluatorFactory(
    binding: RowBinding,
    spec: ProgramSpec,
    outputTypes: Seq[DataType],
    settings: ThreadModeSettings,
    metrics: EvaluationMetrics,
    functions: Seq[FunctionIdentity],
    inProcess: WorkerEvaluation)
  extends PartitionEvaluatorFactory[InternalRow, InternalRow] {

  override def createEvaluator(): PartitionEvaluator[InternalRow, InternalRow] =
    new Evaluator[InternalRow](_.ofRows(_, binding.projection.isDefined, _), identity)

  /** The same over the batches of a columnar child. */
  def ofBatches: PartitionEvaluatorFactory[ColumnarBatch, InternalRow] =
    new PartitionEvaluatorFactory[ColumnarBatch, InternalRow] {
      override def createEvaluator(): PartitionEvaluator[ColumnarBatch, InternalRow] =
        new Evaluator[ColumnarBatch](_.ofBatches(_, _), _.flatMap(_.rowIterator().asScala))
    }

  /**
   * @param inThread the results of functions for their input, projected as Python gets it
   * @param rows of the input
   */
  private class Evaluator[T](
      inThread: (RowEvaluation, Iterator[T], () => UnsafeProjection) => Iterator[InternalRow],
      rows: Iterator[T] => Iterator[InternalRow])
    extends PartitionEvaluator[T, InternalRow] {

    override def eval(partitionIndex: Int, inputs: Iterator[T]*): Iterator[InternalRow] =
      FunctionAdmission.evaluate(spec, functions, settings) { (context, meter) =>
        val python = new RowEvaluation(spec, settings, outputTypes, context, metrics, meter)
        inThread(python, inputs.head, () => newProjection(partitionIndex))
      } { _ => inProcess.eval(partitionIndex, rows(inputs.head)) }
  }

  private def newProjection(partitionIndex: Int): UnsafeProjection = {
    val expressions = binding.projection.getOrElse(binding.childOutput)
    val projection = UnsafeProjection.create(expressions, binding.childOutput)
    projection.initialize(partitionIndex)
    projection
  }
}
