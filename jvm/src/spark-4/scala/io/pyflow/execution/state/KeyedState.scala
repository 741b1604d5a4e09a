package io.pyflow.execution.state

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.{StatefulProcessorHandleImpl, StatefulProcessorHandleState}
import org.apache.spark.sql.pyflow.StateRows
import org.apache.spark.sql.types.StructType

import io.pyflow.bridge.JvmFunction

/**
 * The state of a processor that runs over the whole input of a task, and says itself which key it is
 * at, which timers it handles and how far it is.
 *
 * @param chunkRows how many rows of an iterator Python gets at a time
 */
private[state] class KeyedState(
    handle: StatefulProcessorHandleImpl,
    keySchema: StructType,
    chunkRows: Int)
  extends JvmFunction {
  import KeyedState._

  private val access = new StateAccess(handle, keySchema.length, chunkRows, None)
  private lazy val keyFromPython = new StateRows.FromPython(keySchema)
  private var key = Option.empty[UnsafeRow]
  private var expired: Iterator[(Any, Long)] = Iterator.empty

  override def call(code: Int, argument: Array[Byte]): Array[Byte] = synchronized {
    code match {
      case SetState =>
        handle.setHandleState(StatefulProcessorHandleState.withName(new String(argument, UTF_8)))
        None.orNull
      case ConvertGroupingKey => keyFromPython(argument).getBytes
      case SetKey =>
        key = Some(RowBytes.row(argument, keySchema.length))
        access.beginKey()
        None.orNull
      case UnsetKey =>
        key = None
        None.orNull
      case ExpiredTimers =>
        expired = handle.getExpiredTimers(RowBytes.littleEndian(argument).getLong)
        nextTimers()
      case NextTimers => nextTimers()
      case request => StateRows.withKey(key)(access.answer(request, argument))
    }
  }

  /** Whether there are more timers after these, the size of their keys, the keys, and the times. */
  private def nextTimers(): Array[Byte] = {
    val keys = mutable.ArrayBuffer.empty[UnsafeRow]
    val times = mutable.ArrayBuffer.empty[Long]
    while (keys.length < chunkRows && expired.hasNext) {
      val (key, time) = expired.next()
      keys += key.asInstanceOf[UnsafeRow]
      times += time
    }
    val rows = RowBytes.of(keys, 2 * java.lang.Long.BYTES)
    val answer = java.util.Arrays.copyOf(rows, rows.length + times.length * java.lang.Long.BYTES)
    val buffer = RowBytes.littleEndian(answer)
    buffer.putLong(if (expired.hasNext) 1 else 0)
    buffer.putLong(rows.length - 2L * java.lang.Long.BYTES)
    buffer.position(rows.length)
    times.foreach(buffer.putLong)
    answer
  }
}

private[state] object KeyedState {
  // Numbers of pyflow/thread_mode/state_access.py, above those of StateAccess.
  private val SetState = 26
  private val ConvertGroupingKey = 27
  val SetKey = 28
  private val UnsetKey = 29
  private val ExpiredTimers = 30
  private val NextTimers = 31
}
