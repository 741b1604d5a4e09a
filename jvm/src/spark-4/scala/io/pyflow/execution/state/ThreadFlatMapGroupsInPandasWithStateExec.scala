package io.pyflow.execution.state

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, PythonFuncExpression, PythonUDF, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.ProcessingTimeTimeout
import org.apache.spark.sql.catalyst.plans.physical.Distribution
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.GroupedInput
import org.apache.spark.sql.execution.python.streaming.FlatMapGroupsInPandasWithStateExec
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.operators.stateful.flatmapgroupswithstate.FlatMapGroupsWithStateExecBase
import org.apache.spark.sql.execution.streaming.operators.stateful.flatmapgroupswithstate.FlatMapGroupsWithStateExecHelper.{StateData, StateManager}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.{ArrowResults, GroupStates, StateStores}
import org.apache.spark.sql.streaming.{GroupStateTimeout, OutputMode}
import org.apache.spark.sql.types.StructType

import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.batches.{ArrowLane, ArrowLaneExec}
import io.pyflow.spec.{Argument, InBatches}

/**
 * `applyInPandasWithState` in the JVM of the executor. PySpark's worker code calls the function for each
 * group; the states go there and back beside the rows, and not earlier than that into the store, as in
 * process mode. So a task that may not run the function here runs it in a worker, with the same store.
 *
 * @param inProcess PySpark's operator, in whose place this one is
 */
case class ThreadFlatMapGroupsInPandasWithStateExec(
    inProcess: FlatMapGroupsInPandasWithStateExec,
    settings: ThreadModeSettings,
    child: SparkPlan)
  extends UnaryExecNode
  with FlatMapGroupsWithStateExecBase
  with ArrowLaneExec {

  // Spark's trait reads some of them while it is being initialised.
  override protected lazy val groupingAttributes: Seq[Attribute] = inProcess.groupingAttributes
  override lazy val stateInfo: Option[StatefulOperatorStateInfo] = inProcess.stateInfo
  override protected lazy val stateFormatVersion: Int = inProcess.stateFormatVersion
  override protected lazy val outputMode: OutputMode = inProcess.outputMode
  override protected lazy val timeoutConf: GroupStateTimeout = inProcess.timeoutConf
  override protected lazy val batchTimestampMs: Option[Long] = inProcess.batchTimestampMs
  override lazy val eventTimeWatermarkForLateEvents: Option[Long] =
    inProcess.eventTimeWatermarkForLateEvents
  override lazy val eventTimeWatermarkForEviction: Option[Long] =
    inProcess.eventTimeWatermarkForEviction
  override protected lazy val skipEmittingInitialStateKeys: Boolean =
    inProcess.skipEmittingInitialStateKeys
  override protected lazy val stateEncoder: ExpressionEncoder[Any] =
    ExpressionEncoder(stateType).resolveAndBind().asInstanceOf[ExpressionEncoder[Any]]

  // PySpark has no initial state for such functions.
  override protected lazy val hasInitialState: Boolean = false
  override protected lazy val initialStateDeserializer: Expression = None.orNull
  override protected lazy val initialStateGroupAttrs: Seq[Attribute] = Nil
  override protected lazy val initialStateDataAttrs: Seq[Attribute] = Nil
  override protected lazy val initialState: SparkPlan = None.orNull

  // Shared with the operator that takes over where a task may not run the function here.
  override lazy val stateManager: StateManager = inProcess.stateManager
  override lazy val metrics: Map[String, SQLMetric] =
    functionMetrics.beside(inProcess.metrics ++ laneMetrics)

  override def output: Seq[Attribute] = inProcess.output
  override def shortName: String = inProcess.shortName
  override def requiredChildDistribution: Seq[Distribution] = inProcess.requiredChildDistribution
  override def requiredChildOrdering: Seq[Seq[SortOrder]] = inProcess.requiredChildOrdering

  override def functions: Seq[PythonFuncExpression] = Seq(udf)

  override protected def pythonEvalType: Int = udf.evalType

  private def udf: PythonUDF = inProcess.functionExpr.asInstanceOf[PythonUDF]

  private def stateType: StructType = inProcess.stateType

  private lazy val input = GroupedInput.ofStates(child.output, groupingAttributes)

  private lazy val functionsLane: ArrowLane = lane(
    InBatches,
    Seq(input.schema),
    Seq(input.offsets.map(Argument(_, None))),
    runnerConf = Map(
      SQLConf.ARROW_EXECUTION_MAX_RECORDS_PER_BATCH.key -> conf.arrowMaxRecordsPerBatch.toString,
      SQLConf.ARROW_EXECUTION_MAX_BYTES_PER_BATCH.key -> conf.arrowMaxBytesPerBatch.toString),
    evalConf = Map(
      "state_value_schema" -> stateType.json,
      "group_chunk_schema" -> GroupStates.ChunkSchema.json))

  private lazy val states = new GroupStates(
    DataTypeUtils.fromAttributes(groupingAttributes),
    stateType,
    stateEncoder,
    timeoutConf,
    batchTimestampMs,
    eventTimeWatermarkForEviction,
    watermarkPresent)

  override protected def doExecute(): RDD[InternalRow] = {
    functionsLane
    states
    super.doExecute()
  }

  override def createInputProcessor(store: StateStore): InputProcessor = new InThread(store)

  private class InThread(store: StateStore) extends InputProcessor(store) {
    private lazy val inWorkers = inProcess.createInputProcessor(store)

    override def processNewData(rows: Iterator[InternalRow]): Iterator[InternalRow] =
      if (rows.isEmpty) {
        Iterator.empty
      } else {
        def groups = input.groups(rows).map { case (key, ofGroup) =>
          (stateManager.getState(store, key.asInstanceOf[UnsafeRow]), ofGroup)
        }
        results(groups, hasTimedOut = false)(inWorkers.processNewData(rows))
      }

    override def processTimedOutState(): Iterator[InternalRow] = {
      val expired = if (isTimeoutEnabled) timedOut else Iterator.empty[StateData]
      if (expired.isEmpty) {
        Iterator.empty
      } else {
        val rowOf = input.ofKeys
        val groups = expired.map(state => (state, Iterator.single(rowOf(state.keyRow))))
        results(groups, hasTimedOut = true)(inWorkers.processTimedOutState())
      }
    }

    private def timedOut: Iterator[StateData] = {
      val now = timeoutConf match {
        case ProcessingTimeTimeout => batchTimestampMs.get
        case _ => eventTimeWatermarkForEviction.get
      }
      stateManager.getAllState(store).filter { state =>
        state.timeoutTimestamp != GroupStates.NoTimestamp && state.timeoutTimestamp < now
      }
    }

    private def results(
        groups: => Iterator[(StateData, Iterator[InternalRow])],
        hasTimedOut: Boolean)(inWorkers: => Iterator[InternalRow]): Iterator[InternalRow] = {
      def chunks = new GroupChunks(groups.map { case (state, rows) =>
        (states.toPython(state, hasTimedOut), rows)
      })
      functionsLane.asking(chunks) { batches =>
        batches.flatMap { batch =>
          val (rows, changed) = ArrowResults.withStates(batch, output.length)
          StateStores.atEnd(rows)(changed.foreach(write))
        }.map(UnsafeProjection.create(output, output)).map { row =>
          numOutputRows += 1
          row
        }
      }(inWorkers)
    }

    private def write(fromPython: InternalRow): Unit = {
      val (key, state, timeoutBefore) = states.fromPython(fromPython)
      val timeout = state.getTimeoutTimestampMs
      if (state.isRemoved && !timeout.isPresent) {
        stateManager.removeState(store, key)
        numRemovedStateRows += 1
      } else {
        val timestamp = timeout.orElse(GroupStates.NoTimestamp)
        if (state.isUpdated || state.isRemoved || timestamp != timeoutBefore) {
          stateManager.putState(store, key, state.getOption.orNull, timestamp)
          numUpdatedStateRows += 1
        }
      }
    }

    override protected def callFunctionAndUpdateState(
        state: StateData,
        rows: Iterator[InternalRow],
        hasTimedOut: Boolean): Iterator[InternalRow] =
      throw new UnsupportedOperationException("Python takes groups many at a time")
  }

  override protected def withNewChildInternal(
      newChild: SparkPlan): ThreadFlatMapGroupsInPandasWithStateExec = copy(child = newChild)
}
