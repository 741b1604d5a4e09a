package io.pyflow.execution.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.pyflow.GroupStates

import io.pyflow.bridge.JvmFunction

/**
 * The rows of groups that have a state, one group after the other. Batches of them hold several groups
 * where these are small, and parts of a group where it is large: chunks. Python takes a batch, and then
 * asks for its chunks, which say whose the rows are, with the state of the group.
 *
 * @param groups the state of each, as Python gets it, and its rows, of which there is one at least
 */
private[state] class GroupChunks(groups: Iterator[(Seq[Any], Iterator[InternalRow])])
  extends Iterator[InternalRow]
  with JvmFunction {

  private val unsafe = UnsafeProjection.create(GroupStates.ChunkSchema)
  private var state = Seq.empty[Any]
  private var rows = Iterator.empty[InternalRow]

  // Of the batch that is being filled.
  private val chunks = mutable.ArrayBuffer.empty[UnsafeRow]
  private var taken = 0
  private var start = 0

  override def hasNext: Boolean = rows.hasNext || groups.hasNext

  override def next(): InternalRow = {
    if (!rows.hasNext) {
      val (stateOfNext, rowsOfNext) = groups.next()
      state = stateOfNext
      rows = rowsOfNext
    }
    val row = rows.next()
    taken += 1
    if (!rows.hasNext) {
      endChunk(isLast = true)
      // Spark's iterator of a group knows nothing when the next group has begun.
      rows = Iterator.empty
    }
    row
  }

  /** The chunks of the rows since the call before. */
  override def call(code: Int, argument: Array[Byte]): Array[Byte] = {
    if (start < taken) endChunk(isLast = false)
    val answer = RowBytes.of(chunks, 0)
    chunks.clear()
    taken = 0
    start = 0
    answer
  }

  private def endChunk(isLast: Boolean): Unit = {
    val chunk = state ++ Seq[Any](start, taken - start, isLast)
    chunks += unsafe(InternalRow.fromSeq(chunk)).copy()
    start = taken
  }
}
