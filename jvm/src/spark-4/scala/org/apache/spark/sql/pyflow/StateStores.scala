package org.apache.spark.sql.pyflow

import java.util.concurrent.atomic.AtomicBoolean

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinHelper.StateStoreAwareZipPartitionsHelper
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.{CompletionIterator, SerializableConfiguration, Utils}

/**
 * The stores of a processor that PySpark's operator would run: where they are, and what is kept of
 * them, is as there.
 */
class StateStores private (
    info: StatefulOperatorStateInfo,
    isStreaming: Boolean,
    storeConf: StateStoreConf,
    hadoopConf: Broadcast[SerializableConfiguration])
  extends Serializable {
  import StateStores._

  /**
   * What becomes of the rows of each partition with its store.
   *
   * @param initial rows of the initial state, if there is any
   */
  def mapPartitions(
      rows: RDD[InternalRow],
      initial: Option[RDD[InternalRow]],
      session: SparkSession)(
      results: (StateStore, Iterator[InternalRow], Iterator[InternalRow]) => Iterator[InternalRow])
      : RDD[InternalRow] = initial match {
    case Some(initialRows) =>
      val coordinator = session.streams.stateStoreCoordinator
      rows.stateStoreAwareZipPartitions(initialRows, info, Nil, coordinator) {
        (partition, ofInput, ofInitial) =>
          if (isStreaming) results(ofStream(partition), ofInput, ofInitial)
          else inBatch(partition)(results(_, ofInput, ofInitial))
      }
    case None if isStreaming =>
      rows.mapPartitionsWithStateStore[InternalRow](
        info,
        Schema,
        Schema,
        NoPrefixKeyStateEncoderSpec(Schema),
        session.sessionState,
        Some(session.streams.stateStoreCoordinator),
        useColumnFamilies = true,
        useMultipleValuesPerKey = true)(results(_, _, Iterator.empty))
    case None =>
      rows.mapPartitionsWithIndex { (partition, ofInput) =>
        inBatch(partition)(results(_, ofInput, Iterator.empty))
      }
  }

  private def ofStream(partition: Int): StateStore = StateStore.get(
    StateStoreProviderId(
      StateStoreId(info.checkpointLocation, info.operatorId, partition),
      info.queryRunId),
    Schema,
    Schema,
    NoPrefixKeyStateEncoderSpec(Schema),
    version = info.storeVersion,
    stateStoreCkptId = info.getStateStoreCkptId(partition).map(_.head),
    stateSchemaBroadcast = info.stateSchemaMetadata,
    useColumnFamilies = true,
    storeConf = storeConf,
    hadoopConf = hadoopConf.value.value)

  /** A batch query has a store for as long as its task runs. */
  private def inBatch(partition: Int)(
      results: StateStore => Iterator[InternalRow]): Iterator[InternalRow] = {
    val conf = new SQLConf
    conf.setConfString(
      SQLConf.STATE_STORE_PROVIDER_CLASS.key,
      classOf[RocksDBStateStoreProvider].getName)
    val directory = Utils.createTempDir()
    val id = StateStoreId(directory.getAbsolutePath, 0, partition)
    val provider = StateStoreProvider.createAndInit(
      StateStoreProviderId(id, info.queryRunId),
      Schema,
      Schema,
      NoPrefixKeyStateEncoderSpec(Schema),
      useColumnFamilies = true,
      storeConf = new StateStoreConf(conf),
      hadoopConf = hadoopConf.value.value,
      useMultipleValuesPerKey = true,
      stateSchemaProvider = info.stateSchemaMetadata)
    val ended = new AtomicBoolean
    def end(): Unit =
      if (ended.compareAndSet(false, true)) {
        try provider.close()
        finally Utils.deleteRecursively(directory)
      }
    // Listeners that are added later come before: those of Python, of iterators and of the store.
    TaskContext.get().addTaskCompletionListener[Unit](_ => end())
    atEnd(results(provider.getStore(0, None)))(end())
  }
}

object StateStores {

  // State variables have schemas of their own.
  private val Schema = new StructType().add("key", "binary")

  def apply(
      info: StatefulOperatorStateInfo,
      isStreaming: Boolean,
      session: SparkSession): StateStores =
    new StateStores(
      info,
      isStreaming,
      new StateStoreConf(session.sessionState.conf),
      SerializableConfiguration
        .broadcast(session.sparkContext, session.sessionState.newHadoopConf()))

  /** The same rows; something is done when the last one has been taken. */
  def atEnd(rows: Iterator[InternalRow])(work: => Unit): Iterator[InternalRow] =
    CompletionIterator[InternalRow, Iterator[InternalRow]](rows, work)
}
