package io.pyflow.spec

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, NamedArgumentExpression, PythonFuncExpression}
import org.apache.spark.sql.pyflow.PythonFunctions
import org.apache.spark.sql.types.{StructField, StructType}

/**
 * The arguments of an operator's functions.
 *
 * @param values all of them, each once
 * @param ofFunctions which of them each function gets
 */
case class BoundArguments(values: Seq[Expression], ofFunctions: Seq[Seq[Argument]]) {

  def schema: StructType = StructType(values.zipWithIndex.map { case (value, i) =>
    StructField(s"_$i", value.dataType)
  })
}

object BoundArguments {
  def apply(functions: Seq[PythonFuncExpression]): BoundArguments = {
    val all = functions.map(PythonFunctions.unchain(_)._2.map {
      case NamedArgumentExpression(keyword, value) => (Some(keyword), value)
      case value => (None, value)
    })
    val distinct = all.flatten.map(_._2).foldLeft(Vector.empty[Expression]) { (kept, value) =>
      if (kept.exists(isSame(_, value))) kept else kept :+ value
    }
    BoundArguments(
      distinct,
      all.map(_.map { case (keyword, value) =>
        Argument(distinct.indexWhere(isSame(_, value)), keyword)
      }))
  }

  /**
   * A column is the same by its id: an operator above may know it with elements that may be null
   * where the operator that makes it knows that none is. A nondeterministic expression is the same
   * only as itself.
   */
  private[spec] def isSame(one: Expression, other: Expression): Boolean = (one, other) match {
    case (column: Attribute, same: Attribute) => column.exprId == same.exprId
    case _ => (one eq other) || one.semanticEquals(other)
  }
}
