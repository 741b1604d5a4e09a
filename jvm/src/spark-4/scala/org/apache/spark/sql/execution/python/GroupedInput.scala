package org.apache.spark.sql.execution.python

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Literal, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.StructType

/**
 * Rows by group as PySpark's functions of groups take them. Lives in Spark's package because
 * Spark divides the rows there.
 *
 * @param columns what Python gets: an attribute that is key and value goes once
 * @param offsets which of the columns are keys and which are values, as PySpark reads it
 */
case class GroupedInput(
    childOutput: Seq[Attribute],
    grouping: Seq[Attribute],
    columns: Seq[Attribute],
    offsets: Seq[Int]) {

  def schema: StructType = DataTypeUtils.fromAttributes(columns)

  /** The groups of rows that are sorted by the grouping, each with its key. */
  def groups(rows: Iterator[InternalRow]): Iterator[(InternalRow, Iterator[InternalRow])] =
    PandasGroupUtils.groupAndProject(rows, grouping, childOutput, columns)

  /** Makes the row that stands for a group without rows: of its key, and nulls. */
  def ofKeys: UnsafeRow => InternalRow = {
    val values = columns.map { column =>
      if (grouping.exists(_.exprId == column.exprId)) column
      else Literal(None.orNull, column.dataType)
    }
    UnsafeProjection.create(values, grouping)
  }
}

object GroupedInput {
  def apply(childOutput: Seq[Attribute], grouping: Seq[Attribute]): GroupedInput = {
    val (columns, offsets) = PandasGroupUtils.resolveArgOffsets(childOutput, grouping)
    GroupedInput(childOutput, grouping, columns, offsets.toSeq)
  }

  /** Of groups with a state, which may have no rows. */
  def ofStates(childOutput: Seq[Attribute], grouping: Seq[Attribute]): GroupedInput = {
    val (columns, offsets) = PandasGroupUtils.resolveArgOffsets(grouping ++ childOutput, grouping)
    val nullable = columns.map(_.withNullability(true))
    GroupedInput(childOutput, grouping, nullable, offsets.toSeq)
  }
}
