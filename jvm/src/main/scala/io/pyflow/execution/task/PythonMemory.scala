package io.pyflow.execution.task

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import io.pyflow.bridge.PythonRuntime

/** The memory of the executor's CPython as operators show it: the most that a task has seen. */
private[execution] object PythonMemory {
  val Key = "pythonMemory"

  def metric(sparkContext: SparkContext): (String, SQLMetric) =
    Key -> SQLMetrics.createSizeMetric(sparkContext, "peak memory of the executor's Python")

  /** Looks at it once more; all operators of all tasks share one CPython. */
  def sample(peak: SQLMetric): Unit = peak.set(peak.value.max(PythonRuntime.memoryBytes))
}
