package org.apache.spark.sql.pyflow

import scala.jdk.CollectionConverters._

import org.apache.spark.api.python.PythonEvalType
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.errors.QueryExecutionErrors
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, UserDefinedType}
import org.apache.spark.sql.types.DataType.equalsIgnoreCompatibleCollation
import org.apache.spark.sql.vectorized.ColumnarBatch

/** Reads the batches that functions return, with the checks and errors of Spark's operators. */
object ArrowResults {

  /** Rows of batches with one column for each function. */
  def ofColumns(
      batches: Iterator[ColumnarBatch],
      declared: Seq[DataType]): Iterator[InternalRow] = {
    val expected = withoutUserDefined(declared)
    batches.flatMap(rowsOfType(_, expected, "pandas_udf()"))
  }

  /** Rows of batches that PySpark has already given the declared types. */
  def rows(batches: Iterator[ColumnarBatch]): Iterator[InternalRow] =
    batches.flatMap(_.rowIterator.asScala)

  /** Rows of batches that hold them as structs in their only column. */
  def ofStructs(batches: Iterator[ColumnarBatch], fields: Int): Iterator[InternalRow] =
    batches.flatMap(flattened(_, 0, fields).rowIterator.asScala)

  /**
   * The rows of a batch of `applyInPandasWithState`, and the states of groups that end in it. Its columns
   * are structs: how many there are of both, rows, and states; the shorter of them is padded.
   */
  def withStates(
      batch: ColumnarBatch,
      fields: Int): (Iterator[InternalRow], Iterator[InternalRow]) = {
    val counts = batch.column(0)
    def taken(column: Int, fields: Int): Iterator[InternalRow] =
      flattened(batch, column, fields).rowIterator.asScala
        .take(counts.getChild(column - 1).getInt(0))
    (taken(1, fields), taken(2, GroupStates.Fields))
  }

  /** The rows that each call of a table function has returned. */
  def ofTableFunction(
      batches: Iterator[ColumnarBatch],
      declared: Seq[DataType]): Iterator[Iterator[InternalRow]] = {
    val expected = withoutUserDefined(declared)
    batches.map(batch => rowsOfType(flattened(batch, 0, expected.length), expected, "Python UDTF"))
  }

  private def withoutUserDefined(types: Seq[DataType]): Seq[DataType] =
    types.map(_.transformRecursively { case udt: UserDefinedType[_] => udt.sqlType })

  private def flattened(batch: ColumnarBatch, column: Int, fields: Int): ColumnarBatch = {
    val flat = new ColumnarBatch(Array.tabulate(fields)(batch.column(column).getChild))
    flat.setNumRows(batch.numRows())
    flat
  }

  private def rowsOfType(
      batch: ColumnarBatch,
      expected: Seq[DataType],
      functions: String): Iterator[InternalRow] = {
    val actual = (0 until batch.numCols()).map(batch.column(_).dataType())
    if (!equalsIgnoreCompatibleCollation(expected, actual)) {
      throw QueryExecutionErrors.arrowDataTypeMismatchError(functions, expected, actual)
    }
    batch.rowIterator.asScala
  }

  /** Fails for batches of another type than declared, if the session checks that. */
  def checked(
      batches: Iterator[ColumnarBatch],
      declared: DataType,
      evalType: Int): Iterator[ColumnarBatch] =
    if (!SQLConf.get.pysparkArrowValidateSchema) {
      batches
    } else {
      batches.map { batch =>
        val actual = batch.column(0).dataType()
        if (!DataType.equalsIgnoreCompatibleNullability(from = actual, to = declared)) {
          throw QueryExecutionErrors.arrowDataTypeMismatchError(
            PythonEvalType.toString(evalType),
            Seq(declared),
            Seq(actual))
        }
        batch
      }
    }
}
