package io.pyflow.planning

import scala.annotation.unused

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec
import org.apache.spark.sql.pyflow.RowItself
import org.apache.spark.sql.streaming.StatefulProcessor

/** Spark's operator for processors of the JVM, with what PySpark's has got. */
private[planning] object JvmTransformWithState {
  def apply(
      inPySpark: TransformWithStateInPySparkExec,
      processor: StatefulProcessor[Any, Any, Any],
      keyEncoder: ExpressionEncoder[Any],
      made: Attribute,
      watermark: Option[Long],
      @unused isRealTime: Boolean): SparkPlan = {
    import inPySpark._
    TransformWithStateExec(
      keyDeserializer = RowItself,
      valueDeserializer = RowItself,
      groupingAttributes,
      dataAttributes = child.output,
      statefulProcessor = processor,
      timeMode,
      outputMode,
      keyEncoder = keyEncoder,
      outputObjAttr = made,
      stateInfo,
      batchTimestampMs,
      eventTimeWatermarkForLateEvents,
      watermark,
      child,
      isStreaming,
      hasInitialState = hasInitialState,
      initialStateGroupingAttrs = initialStateGroupingAttrs,
      initialStateDataAttrs = initialState.output,
      initialStateDeserializer = RowItself,
      initialState = initialState)
  }
}
