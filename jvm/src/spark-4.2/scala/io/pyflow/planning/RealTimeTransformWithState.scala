package io.pyflow.planning

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec

/** PySpark's operator. In real-time mode Spark 4.2 refuses all that keep state. */
private[planning] object RealTimeTransformWithState {

  /** @param planned plans a child */
  def apply(state: RealTimeState)(planned: LogicalPlan => SparkPlan): SparkPlan = {
    import state.stateful
    TransformWithStateInPySparkExec(
      stateful.functionExpr,
      stateful.leftAttributes,
      stateful.outputAttrs,
      stateful.outputMode,
      stateful.timeMode,
      stateInfo = None,
      batchTimestampMs = None,
      prevBatchTimestampMs = None,
      eventTimeWatermarkForLateEvents = None,
      eventTimeWatermarkForEviction = None,
      stateful.userFacingDataType,
      planned(stateful.child),
      isStreaming = true,
      stateful.hasInitialState,
      planned(stateful.initialState),
      stateful.rightAttributes,
      stateful.initialStateSchema)
  }
}
