package org.apache.spark.sql.pyflow.ui

import scala.annotation.tailrec

import org.apache.spark.sql.execution.SparkPlanInfo
import org.apache.spark.sql.pyflow.OperatorMetrics

/**
 * An operator of a plan that evaluates Python functions.
 *
 * @param id of one of its metrics, which no other operator has
 * @param reason for process mode; empty in thread mode
 * @param measures its metrics, by number
 */
private[ui] case class PlannedFunctions(
    id: Long,
    operator: String,
    functions: Seq[String],
    mode: String,
    reason: String,
    measures: Map[Long, Measure])

/** Finds the operators with Python functions in a plan, as listeners and the event log have it. */
private[ui] object PlannedFunctions {
  private val Thread = "thread"
  private val Process = "process"
  private val ByMode = "the execution mode is process (spark.pyflow.execution-mode)"

  private val Noted = """(?s)ProcessMode \[.*?\], reason: (.*)""".r
  private val NotedWrite = """(?s).*\(ProcessMode \[(.*?)\], reason: (.*)\)""".r
  private val Processor = """(?s)ThreadProcessor \[(.*)\], interpreter: .*""".r
  private val Embedded = """(?s).*\(Python in thread mode, function: (.*?), interpreter: .*""".r
  private val Functions = """(?s)\w+ \[(.*)\], interpreter: .*""".r
  private val Delimiters = " ,[("
  private val Result = """^#\d+""".r

  def in(plan: SparkPlanInfo): Seq[PlannedFunctions] = in(plan, None).distinctBy(_.id)

  /** @param reason for process mode of the operator, from that above it */
  private def in(plan: SparkPlanInfo, reason: Option[String]): Seq[PlannedFunctions] = {
    val names = plan.metrics.map(_.name).toSet
    plan.simpleString match {
      case Processor(name) => operator(plan, Seq(name), Thread, "", plan.children.head)
      case Noted(why) => plan.children.flatMap(in(_, Some(why)))
      case NotedWrite(functions, why) => operator(plan, namesIn(functions), Process, why)
      case Embedded(functions) => operator(plan, Seq(functions), Thread, "")
      case Functions(functions) if names.contains(OperatorMetrics.PythonTime) =>
        operator(plan, namesIn(functions), Thread, "")
      case other if names.contains(OperatorMetrics.PythonTime) =>
        operator(plan, namesIn(other), Thread, "")
      case other if names.contains(OperatorMetrics.WorkerTime) =>
        operator(plan, namesIn(other), Process, reason.getOrElse(ByMode))
      case _ => plan.children.flatMap(in(_, None))
    }
  }

  private def operator(
      plan: SparkPlanInfo,
      functions: Seq[String],
      mode: String,
      reason: String): Seq[PlannedFunctions] =
    operator(plan, functions, mode, reason, plan)

  /** @param last the operator itself, or that of Spark's below which it belongs to */
  private def operator(
      plan: SparkPlanInfo,
      functions: Seq[String],
      mode: String,
      reason: String,
      last: SparkPlanInfo): Seq[PlannedFunctions] = {
    val ofSpark =
      if (last eq plan) Nil else last.metrics.filter(_.name != OperatorMetrics.OutputRows)
    val measures = (plan.metrics ++ ofSpark).flatMap { metric =>
      Measure.named(metric.name).map(metric.accumulatorId -> _)
    }.toMap
    val found = Option.when(measures.nonEmpty) {
      val known = if (functions.isEmpty) Seq(plan.nodeName) else functions
      PlannedFunctions(measures.keys.min, plan.nodeName, known, mode, reason, measures)
    }
    found.toSeq ++ last.children.flatMap(in(_, None))
  }

  /** The names of the functions among expressions: a call is `name(arguments)#number`. */
  def namesIn(expressions: String): Seq[String] = {
    @tailrec
    def from(position: Int, found: Vector[String]): Vector[String] =
      expressions.indexOf('(', position) match {
        case -1 => found
        case open =>
          val end = afterClosing(expressions, open)
          val begin = expressions.lastIndexWhere(Delimiters.contains(_), open - 1) + 1
          if (begin < open && Result.findPrefixOf(expressions.drop(end)).isDefined) {
            from(end, found :+ expressions.substring(begin, open))
          } else {
            from(open + 1, found)
          }
      }
    from(0, Vector.empty).distinct
  }

  /** Where an expression in parentheses ends. */
  private def afterClosing(expressions: String, open: Int): Int = {
    val depths = expressions.drop(open).scanLeft(0) {
      case (depth, '(') => depth + 1
      case (depth, ')') => depth - 1
      case (depth, _) => depth
    }
    val length = depths.indexOf(0, 1)
    if (length < 0) expressions.length else open + length
  }
}
