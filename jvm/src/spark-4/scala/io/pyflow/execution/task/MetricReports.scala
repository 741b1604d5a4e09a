package io.pyflow.execution.task

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.pyflow.{FunctionMetric, FunctionMetrics, FunctionMetricsSource}

import io.pyflow.bridge.JvmFunction

/**
 * What functions of a task call in the JVM: at the end of a task that succeeds they report their
 * metrics; all else is for another.
 *
 * @param metrics what takes them to the driver, besides the metrics system of this JVM
 */
private[task] class MetricReports(
    context: TaskContext,
    metrics: Option[FunctionMetrics],
    other: Option[JvmFunction])
  extends JvmFunction {

  override def call(code: Int, argument: Array[Byte]): Array[Byte] =
    if (code == MetricReports.Code) {
      val report = FunctionMetric.ofJson(new String(argument, UTF_8))
      FunctionMetricsSource.add(report)
      metrics.foreach(_.take(report, context))
      None.orNull
    } else {
      other
        .getOrElse(throw SparkException.internalError(s"unexpected call $code"))
        .call(code, argument)
    }
}

private object MetricReports {

  /** A number of pyflow/thread_mode/current_task.py, above those of state. */
  val Code = 64
}
