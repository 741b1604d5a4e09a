package io.pyflow.planning

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.TransformWithStateInPySpark
import org.apache.spark.sql.catalyst.plans.logical.TransformWithStateInPySpark.UserFacingDataType
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.state.StateSchemaValidationResult
import org.apache.spark.sql.pyflow.DeclaredState
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.StructType

import io.pyflow.execution.state.ControlRowsExec

/**
 * PySpark's operator with what Spark asks a worker for, see [[DeclaredState]], and as Spark's planning
 * needs it in real-time mode, which Spark knows of its operator for the JVM only: rows are not sorted,
 * since each is handled when it comes, and there is no metadata of the batch that begins, since its
 * offsets are written when it ends. In thread mode it is not executed: [[StatefulOperator]] puts the
 * operator for the JVM in its place.
 */
private[planning] class TransformWithStateInPyFlowExec(
    functionExpr: Expression,
    groupingAttributes: Seq[Attribute],
    outputAttrs: Seq[Attribute],
    outputMode: OutputMode,
    timeMode: TimeMode,
    stateInfo: Option[StatefulOperatorStateInfo],
    batchTimestampMs: Option[Long],
    prevBatchTimestampMs: Option[Long],
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
    outputAttrs,
    outputMode,
    timeMode,
    stateInfo,
    batchTimestampMs,
    prevBatchTimestampMs,
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

  private def isRealTime: Boolean = RealTimeScan.isBelow(child)

  /** Plans show it as what it is for Spark. */
  override def nodeName: String = "TransformWithStateInPySpark"

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    if (isRealTime) children.map(_ => Nil)
    else ControlRowsExec.orderedRows(super.requiredChildOrdering, groupingAttributes, child.output)

  /** PySpark's operator leaves the last argument to its default. */
  override def validateAndWriteStateSchema(
      hadoopConf: Configuration,
      batchId: Long,
      stateSchemaVersion: Int,
      info: StatefulOperatorStateInfo,
      stateSchemaDir: Path,
      session: SparkSession,
      operatorStateMetadataVersion: Int,
      stateStoreEncodingFormat: String,
      isRealTimeMode: Boolean = isRealTime): List[StateSchemaValidationResult] =
    super.validateAndWriteStateSchema(
      hadoopConf,
      batchId,
      stateSchemaVersion,
      info,
      stateSchemaDir,
      session,
      operatorStateMetadataVersion,
      stateStoreEncodingFormat,
      isRealTimeMode)

  /** Spark's rules copy the operator, and the copy has to be one of this class. */
  override def copy(
      functionExpr: Expression,
      groupingAttributes: Seq[Attribute],
      outputAttrs: Seq[Attribute],
      outputMode: OutputMode,
      timeMode: TimeMode,
      stateInfo: Option[StatefulOperatorStateInfo],
      batchTimestampMs: Option[Long],
      prevBatchTimestampMs: Option[Long],
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
      outputAttrs,
      outputMode,
      timeMode,
      stateInfo,
      batchTimestampMs,
      prevBatchTimestampMs,
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
      initialState: SparkPlan): SparkPlan =
    new TransformWithStateInPyFlowExec(
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
      child,
      isStreaming = true,
      stateful.hasInitialState,
      initialState,
      stateful.rightAttributes,
      stateful.initialStateSchema)
}
