package io.pyflow.execution.state

import java.util.UUID

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl
import org.apache.spark.sql.execution.streaming.state.StateStore

/** What PySpark's operator does with the stores of its state. */
private[state] object PySparkState {

  def handle(
      inPySpark: TransformWithStateInPySparkExec,
      store: StateStore,
      queryRunId: UUID,
      keyEncoder: ExpressionEncoder[Any],
      metrics: Map[String, SQLMetric]): StatefulProcessorHandleImpl =
    new StatefulProcessorHandleImpl(
      store,
      queryRunId,
      keyEncoder,
      inPySpark.timeMode,
      inPySpark.isStreaming,
      inPySpark.batchTimestampMs,
      inPySpark.prevBatchTimestampMs,
      metrics)

  /** @param previous the time of the batch before, from which on there are timers */
  def timers(
      handle: StatefulProcessorHandleImpl,
      until: Long,
      previous: Option[Long]): Iterator[(Any, Long)] = handle.getExpiredTimers(until, previous)
}
