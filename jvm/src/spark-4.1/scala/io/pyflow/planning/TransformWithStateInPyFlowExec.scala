package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, PythonUDF, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.TransformWithStateInPySpark
import org.apache.spark.sql.catalyst.plans.logical.TransformWithStateInPySpark.UserFacingDataType
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.pyflow.DeclaredState
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.StructType

import io.pyflow.execution.state.ControlRowsExec

/**
 * PySpark's operator with what Spark asks a worker for, see [[DeclaredState]]. In thread mode it is not
 * executed: [[StatefulOperator]] puts the operator for the JVM in its place.
 */
private[planning] class TransformWithStateInPyFlowExec(
    functionExpr: Expression,
    groupingAttributes: Seq[Attribute],
    output: Seq[Attribute],
    outputMode: OutputMode,
    timeMode: TimeMode,
    stateInfo: Option[StatefulOperatorStateInfo],
    batchTimestampMs: Option[Long],
    eventTimeWatermarkForLateEvents: Option[Long],
    eventTimeWatermarkForEviction: Option[Long],
    userFacingDataType: UserFacingDataType.Value,
    child: SparkPlan,
    isStreaming: Boolean,
    hasInitialState: Boolean,
    initialState: SparkPlan,
    initialStateGroupingAttrs: Seq[Attribute],
    initialStateSchema: StructType)
  extends TransformWithStateInPySparkExec(
    functionExpr,
    groupingAttributes,
    output,
    outputMode,
    timeMode,
    stateInfo,
    batchTimestampMs,
    eventTimeWatermarkForLateEvents,
    eventTimeWatermarkForEviction,
    userFacingDataType,
    child,
    isStreaming,
    hasInitialState,
    initialState,
    initialStateGroupingAttrs,
    initialStateSchema)
  with DeclaredState {

  /** Plans show it as what it is for Spark. */
  override def nodeName: String = "TransformWithStateInPySpark"

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    ControlRowsExec.orderedRows(super.requiredChildOrdering, groupingAttributes, child.output)

  /** Spark's rules copy the operator, and the copy has to be one of this class. */
  override def copy(
      functionExpr: Expression,
      groupingAttributes: Seq[Attribute],
      output: Seq[Attribute],
      outputMode: OutputMode,
      timeMode: TimeMode,
      stateInfo: Option[StatefulOperatorStateInfo],
      batchTimestampMs: Option[Long],
      eventTimeWatermarkForLateEvents: Option[Long],
      eventTimeWatermarkForEviction: Option[Long],
      userFacingDataType: UserFacingDataType.Value,
      child: SparkPlan,
      isStreaming: Boolean,
      hasInitialState: Boolean,
      initialState: SparkPlan,
      initialStateGroupingAttrs: Seq[Attribute],
      initialStateSchema: StructType): TransformWithStateInPySparkExec =
    new TransformWithStateInPyFlowExec(
      functionExpr,
      groupingAttributes,
      output,
      outputMode,
      timeMode,
      stateInfo,
      batchTimestampMs,
      eventTimeWatermarkForLateEvents,
      eventTimeWatermarkForEviction,
      userFacingDataType,
      child,
      isStreaming,
      hasInitialState,
      initialState,
      initialStateGroupingAttrs,
      initialStateSchema)
}

private[planning] object TransformWithStateInPyFlowExec {
  def of(
      stateful: TransformWithStateInPySpark,
      child: SparkPlan,
      initialState: SparkPlan): SparkPlan = {
    if (RealTimeScan.isBelow(stateful.child)) {
      val name = stateful.functionExpr match {
        case udf: PythonUDF => udf.name
        case other => other.toString
      }
      throw new RealTimeModeRefusalException(name, "Spark 4.1 keeps no state there")
    }
    new TransformWithStateInPyFlowExec(
      stateful.functionExpr,
      stateful.leftAttributes,
      stateful.outputAttrs,
      stateful.outputMode,
      stateful.timeMode,
      stateInfo = None,
      batchTimestampMs = None,
      eventTimeWatermarkForLateEvents = None,
      eventTimeWatermarkForEviction = None,
      stateful.userFacingDataType,
      child,
      isStreaming = true,
      stateful.hasInitialState,
      initialState,
      stateful.rightAttributes,
      stateful.initialStateSchema)
  }
}
