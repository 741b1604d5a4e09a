package io.pyflow.execution

import org.apache.spark.{PartitionEvaluator, PartitionEvaluatorFactory, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.python.KeptRows
import org.apache.spark.sql.pyflow.{ArrowResults, InBatches}

/**
 * Evaluates scalar pandas and Arrow functions in the JVM of the executor. As many rows come out as
 * go in, in their order; the columns that somebody above still needs wait in a queue meanwhile.
 *
 * @param udfs the functions, as Spark's optimizer has collected them
 * @param resultAttrs what the results are called, one for each of `udfs`
 * @param outputExpressions the output: columns of the child and of `resultAttrs`, or their aliases
 */
case class ThreadArrowEvalPythonExec(
    udfs: Seq[PythonUDF],
    resultAttrs: Seq[Attribute],
    outputExpressions: Seq[NamedExpression],
    pythonEvalType: Int,
    settings: ThreadModeSettings,
    child: SparkPlan)
  extends UnaryExecNode
  with ArrowLaneExec {

  override def functions: Seq[PythonFuncExpression] = udfs

  override def output: Seq[Attribute] = outputExpressions.map(_.toAttribute)

  override def producedAttributes: AttributeSet = AttributeSet(resultAttrs)

  override def outputPartitioning: Partitioning =
    if (outputExpressions.forall(_.isInstanceOf[Attribute])) {
      child.outputPartitioning
    } else {
      super.outputPartitioning
    }

  override protected def doExecute(): RDD[InternalRow] = {
    val arguments = BoundArguments(udfs)
    val factory = new ArrowEvalEvaluatorFactory(
      lane(InBatches, Seq(arguments.schema), arguments.ofFunctions),
      arguments.values,
      child.output,
      child.output.filter(
        AttributeSet.fromAttributeSets(outputExpressions.map(_.references)).contains),
      resultAttrs,
      outputExpressions)
    child.execute().mapPartitionsWithEvaluator(factory)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ThreadArrowEvalPythonExec =
    copy(child = newChild)
}

private[execution] class ArrowEvalEvaluatorFactory(
    lane: ArrowLane,
    inputs: Seq[Expression],
    childOutput: Seq[Attribute],
    kept: Seq[Attribute],
    results: Seq[Attribute],
    output: Seq[NamedExpression])
  extends PartitionEvaluatorFactory[InternalRow, InternalRow] {

  override def createEvaluator(): PartitionEvaluator[InternalRow, InternalRow] = new Evaluator

  private class Evaluator extends PartitionEvaluator[InternalRow, InternalRow] {
    override def eval(
        partitionIndex: Int,
        partitions: Iterator[InternalRow]*): Iterator[InternalRow] = {
      val projection = UnsafeProjection.create(inputs, childOutput)
      projection.initialize(partitionIndex)
      val resultRows = (rows: Iterator[InternalRow]) =>
        ArrowResults.ofColumns(lane.stream(rows), results.map(_.dataType))
      if (kept.isEmpty) {
        val project = UnsafeProjection.create(output, results)
        resultRows(partitions.head.map(projection)).map(project)
      } else {
        val keep = UnsafeProjection.create(kept, childOutput)
        val waiting = new KeptRows(TaskContext.get(), kept.length)
        val joined = new JoinedRow
        val project = UnsafeProjection.create(output, kept ++ results)
        val rows = partitions.head.map { row =>
          waiting.add(keep(row))
          projection(row)
        }
        resultRows(rows).map(row => project(joined(waiting.remove(), row)))
      }
    }
  }
}
