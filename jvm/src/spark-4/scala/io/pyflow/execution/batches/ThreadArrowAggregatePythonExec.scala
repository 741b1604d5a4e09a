package io.pyflow.execution.batches

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.physical.Distribution
import org.apache.spark.sql.execution.{GroupedIterator, OrderPreservingUnaryExecNode, PartitioningPreservingUnaryExecNode, SparkPlan}
import org.apache.spark.sql.execution.aggregate.UpdatingSessionsIterator
import org.apache.spark.sql.execution.python.ArrowAggregatePythonExec
import org.apache.spark.sql.execution.python.PendingRows
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.ArrowResults

import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.{BoundArguments, InGroups}

/** Aggregates groups with pandas and Arrow functions in the JVM of the executor. */
case class ThreadArrowAggregatePythonExec(
    groupingExpressions: Seq[NamedExpression],
    aggExpressions: Seq[AggregateExpression],
    resultExpressions: Seq[NamedExpression],
    pythonEvalType: Int,
    settings: ThreadModeSettings,
    child: SparkPlan)
  extends PartitioningPreservingUnaryExecNode
  with OrderPreservingUnaryExecNode
  with ArrowLaneExec {

  /** It knows what it requires of its child, and what its groups are. */
  @transient private lazy val workerOperator = ArrowAggregatePythonExec(
    groupingExpressions,
    aggExpressions,
    resultExpressions,
    child,
    pythonEvalType)

  override def functions: Seq[PythonFuncExpression] =
    aggExpressions.map(_.aggregateFunction.asInstanceOf[PythonUDAF])

  override def output: Seq[Attribute] = resultExpressions.map(_.toAttribute)

  override protected def outputExpressions: Seq[NamedExpression] = resultExpressions

  /** Groups come in the order of the rows. Those of sessions have other columns than the rows. */
  override protected def orderingExpressions: Seq[SortOrder] =
    if (workerOperator.sessionWindowOption.isEmpty) child.outputOrdering else Nil

  override def producedAttributes: AttributeSet = workerOperator.producedAttributes

  override def requiredChildDistribution: Seq[Distribution] =
    workerOperator.requiredChildDistribution

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = workerOperator.requiredChildOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val arguments = BoundArguments(functions)
    val aggregation = new GroupedAggregation(
      lane(InGroups, Seq(arguments.schema), arguments.ofFunctions),
      arguments.values,
      child.output,
      groupingExpressions,
      workerOperator.sessionWindowOption,
      workerOperator.groupingWithoutSessionExpressions,
      aggExpressions.map(_.resultAttribute),
      resultExpressions)
    child.execute().mapPartitions(aggregation.results)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ThreadArrowAggregatePythonExec =
    copy(child = newChild)
}

private[execution] class GroupedAggregation(
    lane: ArrowLane,
    values: Seq[Expression],
    childOutput: Seq[Attribute],
    grouping: Seq[NamedExpression],
    session: Option[NamedExpression],
    groupingWithoutSession: Seq[NamedExpression],
    aggregates: Seq[Attribute],
    output: Seq[NamedExpression])
  extends Serializable {

  def results(rows: Iterator[InternalRow]): Iterator[InternalRow] =
    if (rows.isEmpty) Iterator.empty else resultsOfSome(rows)

  private def resultsOfSome(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val keys = new PendingRows(TaskContext.get(), grouping.length)
    val projection = UnsafeProjection.create(values, childOutput)
    val groups = grouped(withSessions(rows)).map { case (key, group) =>
      keys.add(key.asInstanceOf[UnsafeRow])
      (key, group.map(projection))
    }
    val joined = new JoinedRow
    val project = UnsafeProjection.create(output, grouping.map(_.toAttribute) ++ aggregates)
    ArrowResults.rows(lane.groups(grouping, groups)).map(row => project(joined(keys.remove(), row)))
  }

  private def grouped(rows: Iterator[InternalRow]): Iterator[(InternalRow, Iterator[InternalRow])] =
    if (grouping.isEmpty) {
      Iterator((new UnsafeRow(0), rows))
    } else {
      GroupedIterator(rows, grouping, childOutput)
    }

  /** Rows of one session get the same session, by which they are then grouped. */
  private def withSessions(rows: Iterator[InternalRow]): Iterator[InternalRow] =
    session.fold(rows) { window =>
      val conf = SQLConf.get
      new UpdatingSessionsIterator(
        rows,
        groupingWithoutSession,
        window,
        childOutput,
        conf.windowExecBufferInMemoryThreshold,
        conf.windowExecBufferSpillThreshold,
        conf.windowExecBufferSpillSizeThreshold)
    }
}
