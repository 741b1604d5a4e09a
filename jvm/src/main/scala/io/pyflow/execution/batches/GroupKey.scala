package io.pyflow.execution.batches

import org.apache.commons.lang3.StringUtils
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, NamedExpression, ToPrettyString}
import org.apache.spark.sql.internal.SQLConf

/**
 * The keys of groups, as errors show them.
 *
 * @param grouping what a key consists of
 */
private class GroupKey(grouping: Seq[Expression]) {
  import GroupKey._

  /** Names and values, shortened. */
  def text(key: InternalRow): String = {
    val zone = Some(SQLConf.get.sessionLocalTimeZone)
    val fields = grouping.zipWithIndex.map { case (expression, i) =>
      val field = BoundReference(i, expression.dataType, expression.nullable)
      val value = ToPrettyString(field, zone).eval(key).toString
      s"${name(expression)} = ${shortened(value, ValueLength)}"
    }
    shortened(fields.mkString(", "), KeyLength)
  }

  private def name(expression: Expression): String = expression match {
    case named: NamedExpression => named.name
    case _ => expression.sql
  }

  private def shortened(text: String, length: Int): String = StringUtils.abbreviate(text, length)
}

private object GroupKey {
  private val ValueLength = 60
  private val KeyLength = 200
}
