package io.pyflow.execution

import org.apache.spark.sql.execution.metric.SQLMetric

/** The operator's metrics, as the evaluation of a task adds to them. Times in nanoseconds. */
case class EvaluationMetrics(
    outputRows: SQLMetric,
    bundles: SQLMetric,
    pythonTime: SQLMetric,
    conversionTime: SQLMetric,
    gilWaitTime: SQLMetric)

object EvaluationMetrics {
  def apply(metrics: Map[String, SQLMetric]): EvaluationMetrics = EvaluationMetrics(
    metrics("numOutputRows"),
    metrics("bundles"),
    metrics("pythonTime"),
    metrics("conversionTime"),
    metrics("gilWaitTime"))
}
