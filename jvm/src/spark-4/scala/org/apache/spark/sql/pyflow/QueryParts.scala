package org.apache.spark.sql.pyflow

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Dataset
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.classic.{Dataset => ClassicDataset}
import org.apache.spark.sql.execution.streaming.runtime.StreamingRelation
import org.json4s.JsonAST.{JArray, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods

/**
 * What a streaming query has in its checkpoint by order alone: sources, and operators that keep state.
 * Called by pyflow/streaming/jobs.
 */
object QueryParts {
  // An option of rows whose path is another one at each start.
  private val Own = "pyflowrows"

  // What of a source's options says what it reads.
  private val Read =
    Seq("path", "paths", "subscribe", "subscribepattern", "assign", "topic", "queue")

  /** As JSON: of each source what kind it is and what it reads, of each operator its name and keys. */
  def json(rows: Dataset[_]): String = {
    val plan = rows.asInstanceOf[ClassicDataset[_]].queryExecution.analyzed
    // What is read twice is one source.
    val sources = plan.collectLeaves().distinct.collect {
      case relation: StreamingRelation =>
        described(relation.dataSource.className, relation.dataSource.options)
      case relation: StreamingRelationV2 =>
        described(relation.sourceName, relation.extraOptions.asScala.toMap)
    }
    val operators = plan.collect {
      case node if node.isStreaming && keeps.isDefinedAt(node) =>
        texts(keeps(node): _*)
    }
    JsonMethods.compact(
      JObject("sources" -> JArray(sources.toList), "operators" -> JArray(operators.toList)))
  }

  /** Whether a plan has an operator over a stream that keeps state. */
  private[pyflow] def keepsState(plan: LogicalPlan): Boolean =
    plan.exists(node => node.isStreaming && keeps.isDefinedAt(node))

  private def described(kind: String, options: Map[String, String]): JValue = {
    val known = options.map { case (key, value) => key.toLowerCase(java.util.Locale.ROOT) -> value }
    val read = if (known.contains(Own)) Nil else Read
    texts(kind, read.flatMap(key => known.get(key).map(value => s"$key $value")).mkString(", "))
  }

  /** The name of an operator that keeps state, and the types of its keys. */
  private val keeps: PartialFunction[LogicalPlan, Seq[String]] = {
    case node: TransformWithStateInPySpark =>
      // The operators of a data stream may get other names.
      val state = OperatorMetadata.stateOf(node.left.output, node.output)
      val name =
        if (state.exists(_.exists(_.contains("event_timers")))) "KeyedStage"
        else OperatorMetadata.nameOf(node.left.output, node.output).getOrElse(node.nodeName)
      Seq(name, types(node.left.output.take(node.groupingAttributesLen)))
    case node: TransformWithState => Seq(node.nodeName, types(node.groupingAttributes))
    case node: FlatMapGroupsWithState => Seq(node.nodeName, types(node.groupingAttributes))
    case node: FlatMapGroupsInPandasWithState =>
      Seq(node.nodeName, types(node.groupingAttributes))
    case node: Aggregate => Seq(node.nodeName, types(node.groupingExpressions))
    case node: Join if node.left.isStreaming && node.right.isStreaming =>
      Seq(node.nodeName, node.joinType.sql)
    case node: Deduplicate => Seq(node.nodeName, types(node.keys))
    case node: DeduplicateWithinWatermark => Seq(node.nodeName, types(node.keys))
    case node: Distinct => Seq(node.nodeName, types(node.output))
  }

  private def types(keys: Seq[Expression]): String = keys.map(_.dataType.sql).mkString(", ")

  private def texts(values: String*): JValue = JArray(values.map(JString(_)).toList)
}
