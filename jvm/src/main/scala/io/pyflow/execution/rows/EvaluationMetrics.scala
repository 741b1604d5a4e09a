package io.pyflow.execution.rows

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import io.pyflow.execution.task.PythonMemory

/** The operator's metrics, as the evaluation of a task adds to them. Times in nanoseconds. */
case class EvaluationMetrics(
    outputRows: SQLMetric,
    bundles: SQLMetric,
    pythonTime: SQLMetric,
    conversionTime: SQLMetric,
    gilWaitTime: SQLMetric,
    pythonMemory: SQLMetric)

object EvaluationMetrics {

  /** Metrics of operators of the row lane, beside those of Spark's Python operators. */
  def create(sparkContext: SparkContext): Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "bundles" -> SQLMetrics.createMetric(sparkContext, "number of bundles"),
    "pythonTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time in Python"),
    "conversionTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time converting values"),
    "gilWaitTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time waiting for the GIL"),
    PythonMemory.metric(sparkContext))

  def apply(metrics: Map[String, SQLMetric]): EvaluationMetrics = EvaluationMetrics(
    metrics("numOutputRows"),
    metrics("bundles"),
    metrics("pythonTime"),
    metrics("conversionTime"),
    metrics("gilWaitTime"),
    metrics(PythonMemory.Key))

  /** For functions whose operator is Spark's own, which shows none of this. */
  def unregistered: EvaluationMetrics = {
    def sum = new SQLMetric("sum")
    EvaluationMetrics(sum, sum, sum, sum, sum, sum)
  }
}
