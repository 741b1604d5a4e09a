package io.pyflow.execution.state

import java.nio.{ByteBuffer, ByteOrder}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Rows as Python gets and gives them: back to back in bytes, each after its size in 8 bytes. */
private[state] object RowBytes {

  def of(row: UnsafeRow): Array[Byte] = {
    val bytes = new Array[Byte](sizeOf(row))
    write(row, bytes, 0)
    bytes
  }

  /** @param from where rows begin; what is before is left to the caller */
  def of(rows: Iterable[UnsafeRow], from: Int): Array[Byte] = {
    val size = rows.iterator.map(sizeOf(_).toLong).sum + from
    val bytes = new Array[Byte](Math.toIntExact(size))
    rows.foldLeft(from) { (offset, row) =>
      write(row, bytes, offset)
      offset + sizeOf(row)
    }
    bytes
  }

  /** The row that bytes are, without its size. */
  def row(bytes: Array[Byte], fields: Int): UnsafeRow = row(bytes, 0, bytes.length, fields)

  def rows(bytes: Array[Byte], fields: Int): Iterator[UnsafeRow] = {
    val reader = new Reader(bytes)
    Iterator.continually(reader).takeWhile(_.hasNext).map(_.next(fields))
  }

  /** Takes rows of the widths that the caller knows, one after the other. */
  final class Reader(bytes: Array[Byte]) {
    private var offset = 0

    def hasNext: Boolean = offset < bytes.length

    def next(fields: Int): UnsafeRow = {
      val size = Math.toIntExact(Platform.getLong(bytes, Platform.BYTE_ARRAY_OFFSET + offset))
      val start = offset + java.lang.Long.BYTES
      offset = start + size
      row(bytes, start, size, fields)
    }
  }

  def littleEndian(bytes: Array[Byte]): ByteBuffer =
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

  def sizeOf(row: UnsafeRow): Int = java.lang.Long.BYTES + row.getSizeInBytes

  private def row(bytes: Array[Byte], offset: Int, size: Int, fields: Int): UnsafeRow = {
    val row = new UnsafeRow(fields)
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + offset, size)
    row
  }

  private def write(row: UnsafeRow, to: Array[Byte], offset: Int): Unit = {
    val start = Platform.BYTE_ARRAY_OFFSET + offset
    Platform.putLong(to, start, row.getSizeInBytes)
    row.writeToMemory(to, start + java.lang.Long.BYTES)
  }
}
