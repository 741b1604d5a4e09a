package org.apache.spark.sql.pyflow

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.parse

/** A metric of Python functions over one or more tasks. */
sealed trait FunctionMetric extends Serializable {

  /** The metric over the tasks of both; that of another kind is another metric, and takes its place. */
  def and(later: FunctionMetric): FunctionMetric
}

/** What a counter has counted. */
case class Counted(count: Long) extends FunctionMetric {
  override def and(later: FunctionMetric): FunctionMetric = later match {
    case Counted(more) => Counted(count + more)
    case other => other
  }
}

/** The events of a meter. */
case class Marked(events: Long) extends FunctionMetric {
  override def and(later: FunctionMetric): FunctionMetric = later match {
    case Marked(more) => Marked(events + more)
    case other => other
  }
}

/** What a gauge showed at the end of the task that came last. */
case class Gauged(value: Double) extends FunctionMetric {
  override def and(later: FunctionMetric): FunctionMetric = later
}

/** The values of a distribution, of which there is at least one. */
case class Distributed(count: Long, sum: Double, min: Double, max: Double) extends FunctionMetric {

  /** What is shown of it, each under a name of its own. */
  def parts: Seq[(String, Double)] =
    Seq("count" -> count.toDouble, "sum" -> sum, "min" -> min, "max" -> max)

  override def and(later: FunctionMetric): FunctionMetric = later match {
    case more: Distributed => and(more)
    case other => other
  }

  def and(more: Distributed): Distributed =
    Distributed(count + more.count, sum + more.sum, min.min(more.min), max.max(more.max))
}

object FunctionMetric {
  type ByName = Map[String, FunctionMetric]

  /** The metrics of both, by name. */
  def together(earlier: ByName, later: ByName): ByName = later.foldLeft(earlier) {
    case (all, (name, metric)) => all.updated(name, all.get(name).fold(metric)(_.and(metric)))
  }

  /** What pyflow/streaming/runtime/metrics.py says of the functions of a task: an array of them. */
  def ofJson(json: String): ByName = {
    val functions = parse(json).asInstanceOf[JArray].arr.map { case function =>
      function.asInstanceOf[JObject].obj.map { case (name, metric) => name -> of(metric) }.toMap
    }
    functions.foldLeft(Map.empty: ByName)(together)
  }

  private def of(metric: JValue): FunctionMetric = metric match {
    case JArray(JString("counter") :: JInt(count) :: Nil) => Counted(count.toLong)
    case JArray(JString("meter") :: JInt(events) :: Nil) => Marked(events.toLong)
    case JArray(JString("gauge") :: value :: Nil) => Gauged(number(value))
    case JArray(JString("distribution") :: JInt(count) :: sum :: min :: max :: Nil) =>
      Distributed(count.toLong, number(sum), number(min), number(max))
    case other => throw new IllegalArgumentException(s"no metric of a function: $other")
  }

  /** JSON has no numbers for what is none and for what is infinite. */
  private def number(value: JValue): Double = value match {
    case JInt(whole) => whole.toDouble
    case JDouble(fraction) => fraction
    case JString(name) => name.toDouble
    case other => throw new IllegalArgumentException(s"no number: $other")
  }
}
