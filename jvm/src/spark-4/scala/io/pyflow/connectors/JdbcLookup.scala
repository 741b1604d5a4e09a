package io.pyflow.connectors

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * The rows that a table of a database has for a key, asked for when a row with that key is processed.
 *
 * It is a generator of one row, whose only column is the array of the rows that were found: Spark
 * evaluates generators in tasks only, so that no lookup is made when a query is planned. A key with a
 * null has no rows. A task has one connection; what was found may be kept for all tasks of an
 * executor ([[LookupCache]]).
 *
 * @param spec what to ask which database
 * @param keys the values of the statement's parameters
 */
case class JdbcLookup(spec: JdbcLookupSpec, keys: Seq[Expression])
  extends Generator
  with CodegenFallback
  with NonSQLExpression {

  override def children: Seq[Expression] = keys

  override lazy val deterministic: Boolean = false

  override def elementSchema: StructType =
    StructType(Seq(StructField("rows", ArrayType(spec.schema, containsNull = false), false)))

  @transient private lazy val cache = spec.cache.map(LookupCache.of)

  @transient private lazy val database = new JdbcLookups(spec, keys.map(_.dataType))

  override def eval(input: InternalRow): IterableOnce[InternalRow] = {
    val key = keys.map(key => InternalRow.copyValue(key.eval(input)))
    val rows =
      if (key.exists(Option(_).isEmpty)) Array.empty[InternalRow]
      else cache.fold(database.rowsOf(key))(_.get(key, () => database.rowsOf(key)))
    Iterator.single(InternalRow(new GenericArrayData(rows.asInstanceOf[Array[Any]])))
  }

  override def toString: String = s"lookup($spec, ${keys.mkString(", ")})"

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): JdbcLookup =
    copy(keys = newChildren)
}

object JdbcLookup {

  /** The name of the function in SQL: of a specification in JSON, and of the keys. */
  val Name: String = "pyflow_jdbc_lookup"

  def of(arguments: Seq[Expression]): Expression = arguments match {
    case Literal(json: UTF8String, StringType) +: keys if keys.nonEmpty =>
      JdbcLookup(JdbcLookupSpec.of(json.toString), keys)
    case _ => throw new IllegalArgumentException(s"$Name takes a specification and keys")
  }
}
