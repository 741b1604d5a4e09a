package io.pyflow.planning

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.logical.TransformWithStateInPySpark.UserFacingDataType
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.state.StateSchemaValidationResult
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.StructType

/**
 * PySpark's operator as Spark's planning needs it in real-time mode, which Spark knows of its operator
 * for the JVM only: rows are not sorted, since each is handled when it comes, and there is no metadata
 * of the batch that begins, since its offsets are written when it ends. It is not executed:
 * [[StatefulOperator]] puts the operator for the JVM in its place.
 */
private[planning] class RealTimeTransformWithState(
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
    initialStateSchema) {

  override def requiredChildOrdering: Seq[Seq[SortOrder]] = children.map(_ => Nil)

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
      isRealTimeMode: Boolean = true): List[StateSchemaValidationResult] =
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
    new RealTimeTransformWithState(
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

private[planning] object RealTimeTransformWithState {

  /** @param planned plans a child */
  def apply(state: RealTimeState)(planned: LogicalPlan => SparkPlan): SparkPlan = {
    import state.stateful
    new RealTimeTransformWithState(
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
