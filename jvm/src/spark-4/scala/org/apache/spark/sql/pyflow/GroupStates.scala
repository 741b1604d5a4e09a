package org.apache.spark.sql.pyflow

import org.apache.spark.sql.Row
import org.apache.spark.sql.api.python.PythonSQLUtils
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.python.streaming.{ApplyInPandasWithStatePythonRunner, ApplyInPandasWithStateWriter}
import org.apache.spark.sql.execution.streaming.operators.stateful.flatmapgroupswithstate.FlatMapGroupsWithStateExecHelper.StateData
import org.apache.spark.sql.execution.streaming.operators.stateful.flatmapgroupswithstate.GroupStateImpl
import org.apache.spark.sql.streaming.{GroupStateTimeout, TestGroupState}
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String
import org.json4s.jackson.JsonMethods.parse

/**
 * The states of groups on their way to PySpark's worker code for `applyInPandasWithState`, and back.
 *
 * @param encoder of their values, resolved
 */
class GroupStates(
    keySchema: StructType,
    valueSchema: StructType,
    encoder: ExpressionEncoder[Any],
    timeout: GroupStateTimeout,
    batchTimestamp: Option[Long],
    watermark: Option[Long],
    hasWatermark: Boolean)
  extends Serializable {
  import GroupStates._

  private lazy val toRow = encoder.asInstanceOf[ExpressionEncoder[Row]].createDeserializer()

  /** What Python gets of a state: its properties, its key and its value, the first in [[ChunkSchema]]. */
  def toPython(stored: StateData, hasTimedOut: Boolean): Seq[Any] = {
    val value = Option(stored.stateObj).collect { case row: Row => row }
    val state = GroupStateImpl.createForStreaming(
      value,
      batchTimestamp.getOrElse(NoTimestamp),
      watermark.getOrElse(NoTimestamp),
      timeout,
      hasTimedOut,
      hasWatermark)
    Seq(
      UTF8String.fromString(state.json()),
      stored.keyRow.getBytes,
      value.map(PythonSQLUtils.toPyRow).orNull)
  }

  /** What Python has made of a state: its key, the state, and the time-out that it had before. */
  def fromPython(row: InternalRow): (UnsafeRow, TestGroupState[Row], Long) = {
    val bytes = row.getBinary(1)
    val key = new UnsafeRow(keySchema.length)
    key.pointTo(bytes, bytes.length)
    val value = Option.when(!row.isNullAt(2)) {
      PythonSQLUtils.toJVMRow(row.getBinary(2), valueSchema, toRow)
    }
    (key, GroupStateImpl.fromJson(value, parse(row.getUTF8String(0).toString)), row.getLong(3))
  }
}

object GroupStates {
  val NoTimestamp: Long = GroupStateImpl.NO_TIMESTAMP

  /** Of what Python gets of each group in a batch: the state, and which rows are the group's. */
  val ChunkSchema: StructType = ApplyInPandasWithStateWriter.STATE_METADATA_SCHEMA

  /** How many columns a state has that comes from Python. */
  private[pyflow] val Fields: Int =
    ApplyInPandasWithStatePythonRunner.STATE_METADATA_SCHEMA_FROM_PYTHON_WORKER.length
}
