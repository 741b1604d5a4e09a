package io.pyflow.execution.rows

import net.razorvine.pickle.Unpickler
import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.python.EvaluatePython
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.Platform

/**
 * Finishes results that native code could not write, because a function returned something else
 * than exactly the declared type: they arrive pickled and are converted as in process mode.
 */
private[execution] class DeferredColumns(types: Seq[DataType]) {
  EvaluatePython.registerPicklers()

  private val unpickler = new Unpickler
  private val fromPython = types.map(EvaluatePython.makeFromJava).toArray
  private val read = types.map(InternalRow.getAccessor(_)).toArray
  private val values = new GenericInternalRow(types.length)
  private val toUnsafe = UnsafeProjection.create(types.toArray)

  /** The row with the columns replaced whose ordinals, 32-bit integers, lie at an address. */
  def resolve(row: UnsafeRow, ordinals: Long, count: Int): InternalRow = {
    // Ordinals ascend. A deferred column does not yet have a value of its type.
    var next = 0
    types.indices.foreach { column =>
      val deferred =
        next < count && Platform.getInt(None.orNull, ordinals + next * Integer.BYTES) == column
      if (deferred) {
        values.update(column, fromPython(column)(unpickled(row.getBinary(column))))
        next += 1
      } else {
        values.update(column, read(column)(row, column))
      }
    }
    toUnsafe(values)
  }

  private def unpickled(bytes: Array[Byte]): Any = unpickler.loads(bytes) match {
    case list: java.util.List[_] if list.size == 1 => list.get(0)
    case other => throw SparkException.internalError(s"not a list of one value: $other")
  }
}
