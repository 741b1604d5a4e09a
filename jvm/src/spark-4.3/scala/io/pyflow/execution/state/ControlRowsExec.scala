package io.pyflow.execution.state

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, GetStructField, Literal, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{DeserializeToObjectExec, MapPartitionsExec, ProjectExec, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.pyflow.RowItself
import org.apache.spark.sql.types.DataType

/**
 * The rows of each partition between two rows of this operator's own: one before and one after them, in
 * every batch, so that a processor that keeps state has its say in partitions without rows, too.
 *
 * {{{
 *   exchange by (target, key) -> sort -> [first] rows [last] -> transformWithState
 * }}}
 *
 * The first column that rows are sorted by is an INT: [[ControlRowsExec.First]] and
 * [[ControlRowsExec.Last]] are its least and its greatest value. The other columns have the default
 * values of their types.
 */
case class ControlRowsExec(child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val around = ControlRows(output)
    child.execute().mapPartitions { rows =>
      around(rows).asInstanceOf[Iterator[InternalRow]]
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ControlRowsExec =
    copy(child = newChild)
}

object ControlRowsExec {
  // Numbers of pyflow/datastream/runtime/keyed_stage.py.
  private[state] val First = Int.MinValue
  private[state] val Last = Int.MaxValue

  /** The first grouping column of operators that get such rows. */
  val Target = "pyflow_target"

  /** The same by operators of Spark's own, which are all that it allows in real-time mode. */
  def ofSpark(child: SparkPlan): SparkPlan = {
    val row = AttributeReference("row", RowItself.dataType, nullable = false)()
    val made =
      AttributeReference("made", DataTypeUtils.fromAttributes(child.output), nullable = false)()
    val columns = child.output.zipWithIndex.map { case (column, i) =>
      Alias(GetStructField(made, i), column.name)(
        column.exprId,
        column.qualifier,
        Some(column.metadata))
    }
    val rows = DeserializeToObjectExec(RowItself, row, child)
    ProjectExec(columns, MapPartitionsExec(ControlRows(child.output), made, rows))
  }

  /** Whether a plan has such rows already. */
  def isIn(plan: SparkPlan): Boolean = plan match {
    case _: ControlRowsExec => true
    case ProjectExec(_, MapPartitionsExec(_: ControlRows, _, _)) => true
    case _ => false
  }
}

/** @param columns whether each is the target, and its type */
private[state] class ControlRows(columns: Seq[(Boolean, DataType)])
  extends (Iterator[Any] => Iterator[Any])
  with Serializable {

  def apply(rows: Iterator[Any]): Iterator[Any] =
    row(ControlRowsExec.First) ++ rows ++ row(ControlRowsExec.Last)

  private def row(target: Int): Iterator[InternalRow] = {
    val values = columns.map { case (isTarget, dataType) =>
      if (isTarget) Literal(target) else Literal.default(dataType)
    }
    Iterator.single(UnsafeProjection.create(values).apply(InternalRow.empty))
  }
}

private[state] object ControlRows {
  def apply(output: Seq[Attribute]): ControlRows =
    new ControlRows(output.map(c => (c.name == ControlRowsExec.Target, c.dataType)))
}
