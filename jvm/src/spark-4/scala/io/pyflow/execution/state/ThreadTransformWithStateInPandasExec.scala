package io.pyflow.execution.state

import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.hadoop.conf.Configuration
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Attribute, PythonFuncExpression, PythonUDF, UnsafeProjection}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.GroupedInput
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.{TransformWithStateExecBase, TransformWithStateVariableInfo}
import org.apache.spark.sql.execution.streaming.state.{StateSchemaValidationResult, StateStore, StateStoreColFamilySchema}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.{ArrowResults, FunctionMetrics, PythonFunctions, StateRows, StateStores}
import org.apache.spark.sql.streaming.TimeMode
import org.apache.spark.sql.types.StructType

import io.pyflow.admission.FunctionIdentity
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.ThreadModeExec
import io.pyflow.execution.batches.{ArrowLane, BatchMetrics}
import io.pyflow.spec.{Argument, BatchSpec, InBatches}

/**
 * `transformWithStateInPandas` in the JVM of the executor. PySpark's worker code divides the rows of a
 * partition into groups, handles timers and calls the processor; what it asks for state goes to
 * [[KeyedState]].
 *
 * @param inProcess PySpark's operator, in whose place this one is
 */
case class ThreadTransformWithStateInPandasExec(
    inProcess: TransformWithStateInPySparkExec,
    settings: ThreadModeSettings,
    child: SparkPlan,
    initialState: SparkPlan)
  extends TransformWithStateExecBase(
    inProcess.groupingAttributes,
    inProcess.timeMode,
    inProcess.outputMode,
    inProcess.batchTimestampMs,
    inProcess.eventTimeWatermarkForEviction,
    child,
    inProcess.initialStateGroupingAttrs,
    initialState)
  with CheckedStores
  with ThreadModeExec {
  import inProcess.{batchTimestampMs, groupingAttributes, hasInitialState, initialStateGroupingAttrs, isStreaming, timeMode}

  private lazy val functionMetrics = FunctionMetrics(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] =
    functionMetrics.beside(inProcess.metrics ++ BatchMetrics.create(sparkContext))

  override def output: Seq[Attribute] = inProcess.output
  override def shortName: String = inProcess.shortName
  override def stateInfo: Option[StatefulOperatorStateInfo] = inProcess.stateInfo
  override def eventTimeWatermarkForLateEvents: Option[Long] =
    inProcess.eventTimeWatermarkForLateEvents
  override def eventTimeWatermarkForEviction: Option[Long] =
    inProcess.eventTimeWatermarkForEviction

  override def getColFamilySchemas(
      shouldBeNullable: Boolean): Map[String, StateStoreColFamilySchema] =
    inProcess.getColFamilySchemas(shouldBeNullable)

  override def getStateVariableInfos(): Map[String, TransformWithStateVariableInfo] =
    inProcess.getStateVariableInfos()

  override def validateAndMaybeEvolveStateSchema(
      hadoopConf: Configuration,
      batchId: Long,
      stateSchemaVersion: Int): List[StateSchemaValidationResult] =
    inProcess.validateAndMaybeEvolveStateSchema(hadoopConf, batchId, stateSchemaVersion)

  override def functions: Seq[PythonFuncExpression] = Seq(udf)

  override protected def interpreter: String = "shared"

  private def udf: PythonUDF = inProcess.functionExpr.asInstanceOf[PythonUDF]

  private val keySchema = StructType(
    groupingAttributes.map(a => DataTypeUtils.fromAttributes(Seq(a)).head))
  private val data = GroupedInput(child.output, groupingAttributes)
  private lazy val initialData = GroupedInput(initialState.output, initialStateGroupingAttrs)

  /** A batch has rows or rows of the initial state, and nulls in the other column. */
  private lazy val withInitialState =
    new StructType().add("inputData", data.schema).add("initState", initialData.schema)

  private val chunkRows = SQLConf.get.arrowTransformWithStateInPySparkMaxStateRecordsPerBatch

  override protected def doExecute(): RDD[InternalRow] = {
    checkStores(isStreaming)
    val evaluation = lane
    StateStores(getStateInfo, isStreaming, session).mapPartitions(
      child.execute(),
      Option.when(hasInitialState)(initialState.execute()),
      session)(results(evaluation, _, _, _))
  }

  private def lane: ArrowLane = {
    val evalType = PythonFunctions.stateInPandasEvalType(hasInitialState)
    val (schema, offsets) =
      if (hasInitialState) (withInitialState, data.offsets ++ initialData.offsets)
      else (data.schema, data.offsets)
    val runnerConf = Seq(
      SQLConf.ARROW_EXECUTION_MAX_RECORDS_PER_BATCH.key -> conf.arrowMaxRecordsPerBatch.toString,
      SQLConf.ARROW_EXECUTION_MAX_BYTES_PER_BATCH.key -> conf.arrowMaxBytesPerBatch.toString)
    val worker = settings.worker.copy(runnerConf = settings.worker.runnerConf ++ runnerConf)
    val spec = BatchSpec(
      functions,
      evalType,
      InBatches,
      Seq(schema),
      Seq(offsets.map(Argument(_, None))),
      inStruct = false,
      conf,
      worker,
      Map(
        "grouping_key_schema" -> keySchema.json,
        "state_server_socket_port" -> "0",
        "batch_timestamp" -> batchTimestampMs.getOrElse(-1L).toString,
        "watermark" -> eventTimeWatermarkForEviction.getOrElse(-1L).toString))
    ArrowLane(
      spec,
      settings,
      FunctionIdentity.of(udf),
      BatchMetrics(metrics, functionMetrics),
      None,
      pythonMetrics)
  }

  private def results(
      lane: ArrowLane,
      store: StateStore,
      rows: Iterator[InternalRow],
      initialRows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val start = System.nanoTime
    val handle = PySparkState.handle(
      inProcess,
      store,
      getStateInfo.queryRunId,
      StateRows.encoder(keySchema).asInstanceOf[ExpressionEncoder[Any]],
      metrics)
    val batches = lane.withState(
      input(rows, initialRows),
      new KeyedState(handle, keySchema, chunkRows),
      PythonStatefulProcessor.StartedAgain)
    val made = ArrowResults.ofStructs(batches, output.length).map { row =>
      longMetric("numOutputRows") += 1
      row
    }
    StateStores.atEnd(made.map(UnsafeProjection.create(output, output))) {
      longMetric("allUpdatesTimeMs") += NANOSECONDS.toMillis(System.nanoTime - start)
      longMetric("commitTimeMs") += timeTakenMs {
        if (isStreaming) {
          handle.doTtlCleanup()
          store.commit()
        } else {
          store.abort()
        }
      }
      setStoreMetrics(store, isStreaming)
      setOperatorMetrics()
    }
  }

  /** Rows of the initial state come before the others, and not in the same batch. */
  private def input(
      rows: Iterator[InternalRow],
      initialRows: Iterator[InternalRow]): Iterator[Iterator[InternalRow]] = {
    val timely = watermarkPredicateForDataForLateEvents match {
      case Some(predicate) if timeMode == TimeMode.EventTime() =>
        applyRemovingRowsOlderThanWatermark(rows, predicate)
      case _ => rows
    }
    val grouped = data.groups(timely).flatMap(_._2)
    if (hasInitialState) {
      val initial = initialData.groups(initialRows).flatMap(_._2)
      Iterator(initial.map(InternalRow(None.orNull, _)), grouped.map(InternalRow(_, None.orNull)))
    } else {
      Iterator(grouped)
    }
  }

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan): ThreadTransformWithStateInPandasExec =
    copy(child = newLeft, initialState = newRight)
}
