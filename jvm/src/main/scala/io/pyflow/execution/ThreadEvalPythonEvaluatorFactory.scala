package io.pyflow.execution

import org.apache.spark.{PartitionEvaluator, PartitionEvaluatorFactory, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.pyflow.{FunctionIdentity, ProgramSpec}
import org.apache.spark.sql.types.DataType

/**
 * What a task needs to evaluate the functions of [[ThreadEvalPythonExec]] over a partition: in this
 * JVM or, if the driver says so, in Spark's Python workers.
 */
class ThreadEvalPythonEvaluatorFactory(
    lane: RowLane,
    spec: ProgramSpec,
    outputTypes: Seq[DataType],
    settings: ThreadModeSettings,
    metrics: EvaluationMetrics,
    functions: Seq[FunctionIdentity],
    inProcess: SparksEvaluation)
  extends PartitionEvaluatorFactory[InternalRow, InternalRow] {

  override def createEvaluator(): PartitionEvaluator[InternalRow, InternalRow] = new Evaluator

  private class Evaluator extends PartitionEvaluator[InternalRow, InternalRow] {
    override def eval(partitionIndex: Int, inputs: Iterator[InternalRow]*): Iterator[InternalRow] =
      DriverRecord.evaluate(spec, functions, settings) {
        inThread(partitionIndex, inputs.head, _, _)
      } { _ => inProcess.eval(partitionIndex, inputs.head) }
  }

  private def inThread(
      partitionIndex: Int,
      input: Iterator[InternalRow],
      context: TaskContext,
      meter: Option[GilContention.Meter]): Iterator[InternalRow] = {
    val python = new BundleEvaluation(spec, settings, outputTypes, context, metrics, meter)
    python.results(input, lane.projection.isDefined, () => newProjection(partitionIndex))
  }

  private def newProjection(partitionIndex: Int): UnsafeProjection = {
    val expressions = lane.projection.getOrElse(lane.childOutput)
    val projection = UnsafeProjection.create(expressions, lane.childOutput)
    projection.initialize(partitionIndex)
    projection
  }
}
