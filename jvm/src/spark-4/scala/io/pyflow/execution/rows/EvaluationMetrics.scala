package io.pyflow.execution.rows

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.pyflow.{FunctionMetrics, OperatorMetrics}

import io.pyflow.execution.task.CallMetrics

/** The operator's metrics, as the evaluation of a task adds to them. Times in nanoseconds. */
case class EvaluationMetrics(
    outputRows: SQLMetric,
    bundles: SQLMetric,
    conversionTime: SQLMetric,
    calls: CallMetrics,
    ofFunctions: FunctionMetrics)

object EvaluationMetrics {

  /** Metrics of operators of the row lane, beside those of Spark's Python operators. */
  def create(sparkContext: SparkContext): Map[String, SQLMetric] =
    CallMetrics.create(sparkContext) ++ Map(
      "numOutputRows" -> SQLMetrics.createMetric(sparkContext, OperatorMetrics.OutputRows),
      "bundles" -> SQLMetrics.createMetric(sparkContext, OperatorMetrics.Bundles),
      "conversionTime" ->
        SQLMetrics.createNanoTimingMetric(sparkContext, OperatorMetrics.ConversionTime))

  def apply(metrics: Map[String, SQLMetric], ofFunctions: FunctionMetrics): EvaluationMetrics =
    EvaluationMetrics(
      metrics("numOutputRows"),
      metrics("bundles"),
      metrics("conversionTime"),
      CallMetrics(metrics),
      ofFunctions)
}
