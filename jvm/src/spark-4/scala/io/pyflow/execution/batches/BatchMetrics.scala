package io.pyflow.execution.batches

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.pyflow.{FunctionMetrics, OperatorMetrics}

import io.pyflow.execution.task.CallMetrics

/** An operator's metrics, as a task adds to them. */
case class BatchMetrics(
    outputRows: SQLMetric,
    batches: SQLMetric,
    lentMemory: SQLMetric,
    calls: CallMetrics,
    ofFunctions: FunctionMetrics)

object BatchMetrics {

  /** Metrics of operators of the Arrow lane, beside those of Spark's Python operators. */
  def create(sparkContext: SparkContext): Map[String, SQLMetric] =
    CallMetrics.create(sparkContext) ++ Map(
      "batches" -> SQLMetrics.createMetric(sparkContext, OperatorMetrics.Batches),
      "lentMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory lent to Python"))

  /** For operators of Spark's, which do not show them. */
  def notShown(sparkContext: SparkContext): BatchMetrics =
    BatchMetrics(create(sparkContext) + received(sparkContext), FunctionMetrics(sparkContext))

  /** The metric of Spark's own Python operators. */
  def received(sparkContext: SparkContext): (String, SQLMetric) =
    Received -> SQLMetrics.createMetric(sparkContext, OperatorMetrics.OutputRows)

  private val Received = "pythonNumRowsReceived"

  def apply(metrics: Map[String, SQLMetric], ofFunctions: FunctionMetrics): BatchMetrics =
    BatchMetrics(
      metrics(Received),
      metrics("batches"),
      metrics("lentMemory"),
      CallMetrics(metrics),
      ofFunctions)
}
