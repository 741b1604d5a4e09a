package org.apache.spark.sql.pyflow

import java.util.concurrent.ConcurrentHashMap

import scala.collection.immutable.AbstractMap
import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.execution.{ExplainMode, QueryExecution, SQLExecution}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.ui.{SparkListenerDriverAccumUpdates, SparkListenerSQLAdaptiveExecutionUpdate}
import org.apache.spark.util.AccumulatorV2

/**
 * Takes the metrics that the functions of an operator make to the driver, with the end of each task
 * that succeeds. Their names are known only then: the operator gets a metric of the SQL tab for each,
 * and the tab is told of its plan anew.
 */
class FunctionMetrics private extends AccumulatorV2[FunctionMetric.ByName, FunctionMetric.ByName] {

  private var metrics: FunctionMetric.ByName = Map.empty

  /** The query's number in the SQL tab. */
  private var execution = Option.empty[Long]

  /** Those of the operator, on the driver; of what is no operator of a plan there are none. */
  @transient private lazy val shown = new ConcurrentHashMap[String, SQLMetric]
  @transient private var inPlan = false

  /** Takes what the functions of a task report. */
  def take(report: FunctionMetric.ByName, context: TaskContext): Unit = {
    execution = Option(context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)).map(_.toLong)
    add(report)
  }

  override def add(report: FunctionMetric.ByName): Unit =
    metrics = FunctionMetric.together(metrics, report)

  override def value: FunctionMetric.ByName = metrics

  override def isZero: Boolean = metrics.isEmpty

  override def copy(): FunctionMetrics = {
    val made = new FunctionMetrics
    made.metrics = metrics
    made.execution = execution
    made
  }

  override def reset(): Unit = metrics = Map.empty

  /** Shows what a task has sent; nothing is kept. Spark calls it for active stages alone. */
  override def merge(other: AccumulatorV2[FunctionMetric.ByName, FunctionMetric.ByName]): Unit =
    other match {
      case ofTask: FunctionMetrics if !ofTask.isZero =>
        FunctionMetricsSource.addOnDriver(ofTask.metrics)
        for {
          id <- ofTask.execution if inPlan
          query <- Option(SQLExecution.getQueryExecution(id))
        } show(ofTask.metrics, id, query)
      case _ =>
    }

  private def show(report: FunctionMetric.ByName, id: Long, query: QueryExecution): Unit = {
    val context = query.sparkSession.sparkContext
    val bus = context.listenerBus
    val known = shown.size
    val updates = report.toSeq.flatMap {
      case (name, Counted(count)) => Seq(sum(name, count, context))
      case (name, Marked(events)) => Seq(sum(name, events, context))
      case (name, Gauged(value)) => Seq(average(name, value, context))
      case (name, Distributed(count, total, min, max)) =>
        Seq(
          sum(s"$name.count", count, context),
          sum(s"$name.sum", total.round, context),
          average(s"$name.min", min, context),
          average(s"$name.max", max, context))
    }
    if (shown.size > known) {
      val mode = ExplainMode.fromString(query.sparkSession.sessionState.conf.uiExplainMode)
      val plan = PlanInfos.of(query.executedPlan)
      bus.post(SparkListenerSQLAdaptiveExecutionUpdate(id, query.explainString(mode), plan))
    }
    bus.post(SparkListenerDriverAccumUpdates(id, updates))
  }

  /** Adds to a metric of the operator that is a sum; its number, and what was added. */
  private def sum(name: String, value: Long, context: SparkContext): (Long, Long) = {
    val metric = shown.computeIfAbsent(name, SQLMetrics.createMetric(context, _))
    metric.add(value)
    metric.id -> value
  }

  /** Sets one of which the tab shows the least, the median and the greatest of the tasks. */
  private def average(name: String, value: Double, context: SparkContext): (Long, Long) = {
    val metric = shown.computeIfAbsent(name, SQLMetrics.createAverageMetric(context, _))
    metric.set(value)
    metric.id -> metric.value
  }

  /** An operator's own metrics, and those of its functions as far as they are known. */
  def beside(own: Map[String, SQLMetric]): Map[String, SQLMetric] = {
    inPlan = true
    new FunctionMetrics.Growing(own, shown)
  }
}

object FunctionMetrics {

  /** For one operator of one plan. */
  def apply(context: SparkContext): FunctionMetrics = {
    val made = new FunctionMetrics
    context.register(made)
    made
  }

  /** In tasks, which get a copy, it grows no more. */
  private class Growing(own: Map[String, SQLMetric], shown: ConcurrentHashMap[String, SQLMetric])
    extends AbstractMap[String, SQLMetric]
    with Serializable {

    private def all: Map[String, SQLMetric] = shown.asScala.toMap ++ own

    override def get(key: String): Option[SQLMetric] = own.get(key).orElse(Option(shown.get(key)))
    override def iterator: Iterator[(String, SQLMetric)] = all.iterator
    override def removed(key: String): Map[String, SQLMetric] = all.removed(key)
    override def updated[V >: SQLMetric](key: String, value: V): Map[String, V] =
      all.updated(key, value)

    private def writeReplace(): AnyRef = own
  }
}
