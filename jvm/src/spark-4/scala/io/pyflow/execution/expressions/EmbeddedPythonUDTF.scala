package io.pyflow.execution.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.StructType

/**
 * A plain table function as a generator: each row is a call of its own, and after the last row comes a
 * call that only tells that this was the last. It stands where no Python operator can be.
 *
 * @param function called with one row of `arguments`
 * @param keepsColumns whether its rows go on with columns of the row that they were made of
 */
case class EmbeddedPythonUDTF(
    function: EmbeddedRowFunctions,
    arguments: Seq[Expression],
    elementSchema: StructType,
    keepsColumns: Boolean)
  extends Generator
  with CodegenFallback
  with NonSQLExpression
  with UserDefinedExpression {

  override def name: String = function.names

  override def children: Seq[Expression] = arguments

  override lazy val deterministic: Boolean = false

  /** Of the function: whether this is the row after the last, and the arguments. */
  @transient private lazy val values = new GenericInternalRow(1 + arguments.length)

  @transient private lazy val toUnsafe = UnsafeProjection.create(function.spec.inputSchema)

  @transient private lazy val nullRow = new GenericInternalRow(elementSchema.length)

  @transient private var rowsSeen = false

  override def eval(input: InternalRow): IterableOnce[InternalRow] = {
    rowsSeen = true
    arguments.indices.foreach(i => values.update(1 + i, arguments(i).eval(input)))
    rowsOf(atEnd = false)
  }

  /** Without a row before them, rows have no columns to go on with. */
  override def terminate(): IterableOnce[InternalRow] =
    if (rowsSeen || !keepsColumns) {
      arguments.indices.foreach(i => values.update(1 + i, None.orNull))
      rowsOf(atEnd = true)
    } else {
      Nil
    }

  /** None, too, where the function has ended before its input. */
  private def rowsOf(atEnd: Boolean): IterableOnce[InternalRow] = {
    values.update(0, atEnd)
    function.evaluate(toUnsafe(values))
    if (function.results.isNullAt(0)) {
      Nil
    } else {
      val rows = function.results.getArray(0)
      Iterator.tabulate(rows.numElements()) { i =>
        if (rows.isNullAt(i)) nullRow else rows.getStruct(i, elementSchema.length)
      }
    }
  }

  override def toString: String = function.call(0, arguments)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): EmbeddedPythonUDTF = copy(arguments = newChildren)
}
