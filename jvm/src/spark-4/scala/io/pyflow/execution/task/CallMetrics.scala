package io.pyflow.execution.task

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.pyflow.OperatorMetrics

import io.pyflow.admission.ContentionMeter
import io.pyflow.bridge.{CallTimes, InterpreterKind, PythonRuntime}

/** What every operator in thread mode measures of its calls into Python. Times in nanoseconds. */
private[execution] case class CallMetrics(
    pythonTime: SQLMetric,
    gilWaitTime: SQLMetric,
    pythonMemory: SQLMetric,
    isolatedTasks: SQLMetric,
    sharedTasks: SQLMetric) {

  /**
   * Adds a call that has just returned.
   *
   * @param interpreter where it was
   * @param meter which counts it, too
   */
  def add(times: CallTimes, interpreter: InterpreterKind, meter: Option[ContentionMeter]): Unit = {
    // Of one task, as often as it may call.
    (if (interpreter == InterpreterKind.SHARED) sharedTasks else isolatedTasks).set(1)
    pythonTime.add(times.pythonNanos)
    gilWaitTime.add(times.gilWaitNanos)
    meter.foreach(_.add(times))
    if (times.sampledNanos > 0) {
      // The most that a task has seen; all operators of all tasks share one CPython.
      pythonMemory.set(pythonMemory.value.max(PythonRuntime.memoryBytes))
    }
  }
}

private[execution] object CallMetrics {
  def create(sparkContext: SparkContext): Map[String, SQLMetric] = Map(
    "pythonTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, OperatorMetrics.PythonTime),
    "gilWaitTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, OperatorMetrics.GilWaitTime),
    "pythonMemory" ->
      SQLMetrics.createSizeMetric(sparkContext, OperatorMetrics.PythonMemory),
    "isolatedTasks" ->
      SQLMetrics.createMetric(sparkContext, OperatorMetrics.IsolatedTasks),
    "sharedTasks" ->
      SQLMetrics.createMetric(sparkContext, OperatorMetrics.SharedTasks))

  def apply(metrics: Map[String, SQLMetric]): CallMetrics =
    CallMetrics(
      metrics("pythonTime"),
      metrics("gilWaitTime"),
      metrics("pythonMemory"),
      metrics("isolatedTasks"),
      metrics("sharedTasks"))
}
