package io.pyflow.execution.state

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, Literal, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
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
    val withControlRows = WithControlRows(output)
    child.execute().mapPartitions { rows =>
      withControlRows(rows).asInstanceOf[Iterator[InternalRow]]
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ControlRowsExec =
    copy(child = newChild)
}

object ControlRowsExec {
  // Numbers of pyflow/datastream/runtime/stage.py.
  private[state] val First = Int.MinValue
  private[state] val Last = Int.MaxValue

  /** The first grouping column of operators that get such rows. */
  val Target = "pyflow_target"

  private val Sequence = "pyflow_sequence"

  /**
   * The order in which such an operator needs its rows: those of a key in that in which they were
   * emitted. A sort that spills does not keep it where it is not told to, and rows of sinks are only
   * passed on.
   */
  def orderedRows(
      required: Seq[Seq[SortOrder]],
      grouping: Seq[Attribute],
      columns: Seq[Attribute]): Seq[Seq[SortOrder]] =
    if (grouping.headOption.exists(_.name == Target)) {
      val sequence = columns.find(_.name == Sequence).map(SortOrder(_, Ascending))
      (required.head ++ sequence) +: required.tail
    } else {
      required
    }
}

/**
 * Puts the rows of [[ControlRowsExec]] around those of a partition.
 *
 * @param columns whether each is the target, and its type
 */
class WithControlRows private (columns: Seq[(Boolean, DataType)])
  extends (Iterator[Any] => Iterator[Any])
  with Serializable {

  override def apply(rows: Iterator[Any]): Iterator[Any] =
    row(ControlRowsExec.First) ++ rows ++ row(ControlRowsExec.Last)

  private def row(target: Int): Iterator[InternalRow] = {
    val values = columns.map { case (isTarget, dataType) =>
      if (isTarget) Literal(target) else Literal.default(dataType)
    }
    Iterator.single(UnsafeProjection.create(values).apply(InternalRow.empty))
  }
}

object WithControlRows {
  def apply(output: Seq[Attribute]): WithControlRows =
    new WithControlRows(output.map(c => (c.name == ControlRowsExec.Target, c.dataType)))
}
