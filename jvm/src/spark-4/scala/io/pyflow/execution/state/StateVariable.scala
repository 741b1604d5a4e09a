package io.pyflow.execution.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.pyflow.StateRows
import org.apache.spark.sql.streaming.{ListState, MapState, ValueState}
import org.apache.spark.sql.types.StructType

/** A state variable of a processor, as Python uses it. */
sealed private[state] trait StateVariable {
  def exists: Boolean
  def clear(): Unit

  /** Of its values, and of its keys if it is a map. */
  def schemas: Seq[StructType]

  private lazy val conversions = schemas.map(new StateRows.FromPython(_))

  /** What Python pickled of a value that is not exactly of its type, as a row of a schema. */
  def converted(pickled: Array[Byte], schema: Int): Array[Byte] =
    conversions(schema)(pickled).getBytes
}

private[state] case class SingleValue(state: ValueState[UnsafeRow], schema: StructType)
  extends StateVariable {
  override def exists: Boolean = state.exists()
  override def clear(): Unit = state.clear()
  override def schemas: Seq[StructType] = Seq(schema)

  def get: Option[UnsafeRow] = Option(state.get())

  def update(row: Array[Byte]): Unit = state.update(RowBytes.row(row, schema.length))
}

private[state] case class ValueList(state: ListState[UnsafeRow], schema: StructType)
  extends StateVariable {
  override def exists: Boolean = state.exists()
  override def clear(): Unit = state.clear()
  override def schemas: Seq[StructType] = Seq(schema)

  def append(row: Array[Byte]): Unit = state.appendValue(RowBytes.row(row, schema.length))

  def appendAll(rows: Array[Byte]): Unit = state.appendList(read(rows))

  def put(rows: Array[Byte]): Unit = state.put(read(rows))

  private def read(rows: Array[Byte]): Array[UnsafeRow] =
    RowBytes.rows(rows, schema.length).toArray
}

private[state] case class ValueMap(
    state: MapState[UnsafeRow, UnsafeRow],
    keySchema: StructType,
    valueSchema: StructType)
  extends StateVariable {
  override def exists: Boolean = state.exists()
  override def clear(): Unit = state.clear()
  override def schemas: Seq[StructType] = Seq(valueSchema, keySchema)

  def get(key: Array[Byte]): Option[UnsafeRow] = Option(state.getValue(keyOf(key)))

  def contains(key: Array[Byte]): Boolean = state.containsKey(keyOf(key))

  def remove(key: Array[Byte]): Unit = state.removeKey(keyOf(key))

  /** @param entry a key and a value, as [[RowBytes]] */
  def update(entry: Array[Byte]): Unit = {
    val reader = new RowBytes.Reader(entry)
    val key = reader.next(keySchema.length)
    state.updateValue(key, reader.next(valueSchema.length))
  }

  private def keyOf(row: Array[Byte]): UnsafeRow = RowBytes.row(row, keySchema.length)
}
