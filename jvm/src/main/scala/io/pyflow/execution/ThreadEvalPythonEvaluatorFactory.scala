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
    override def eval(
        partitionIndex: Int,
        inputs: Iterator[InternalRow]*): Iterator[InternalRow] = {
      val context = TaskContext.get()
      DriverRecord.announce(context, functions) match {
        case None => inThread(partitionIndex, inputs.head, context)
        case Some(_) if settings.fallback => inProcess.eval(partitionIndex, inputs.head)
        case Some(reason) => throw ArrowLane.forbidden(spec.functionNames, reason)
      }
    }
  }

  private def inThread(
      partitionIndex: Int,
      input: Iterator[InternalRow],
      context: TaskContext): Iterator[InternalRow] = {
    val rows = new BundleIterator(
      input,
      lane.projection.isDefined,
      () => newProjection(partitionIndex),
      outputTypes.length,
      new BundleEvaluation(spec, settings, outputTypes, context, metrics),
      new BundleSize(settings.bundleRows, settings.bundleMillis, spec.arrowBatchRows))
    context.addTaskCompletionListener[Unit](_ => rows.close())
    rows
  }

  private def newProjection(partitionIndex: Int): UnsafeProjection = {
    val expressions = lane.projection.getOrElse(lane.childOutput)
    val projection = UnsafeProjection.create(expressions, lane.childOutput)
    projection.initialize(partitionIndex)
    projection
  }
}
