package io.pyflow.execution.state

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Literal, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

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
    val columns = output.map(column => (column.name == ControlRowsExec.Target, column.dataType))
    child.execute().mapPartitions { rows =>
      def control(number: Int): Iterator[InternalRow] = {
        val values = columns.map { case (isTarget, dataType) =>
          if (isTarget) Literal(number) else Literal.default(dataType)
        }
        Iterator.single(UnsafeProjection.create(values).apply(InternalRow.empty))
      }
      control(ControlRowsExec.First) ++ rows ++ control(ControlRowsExec.Last)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ControlRowsExec =
    copy(child = newChild)
}

object ControlRowsExec {
  // Numbers of pyflow/datastream/runtime/keyed_stage.py.
  private val First = Int.MinValue
  private val Last = Int.MaxValue

  /** The first grouping column of operators that get such rows. */
  val Target = "pyflow_target"
}
