package io.pyflow.arrow;

import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseLargeVariableWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.DurationVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.IntervalYearVector;
import org.apache.arrow.vector.SmallIntVector;
import org.apache.arrow.vector.TimeNanoVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.util.OversizedAllocationException;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.arrow.ArrowFieldWriter;
import org.apache.spark.sql.execution.arrow.ArrowWriter$;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatchRow;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Writes a column into a vector: of unsafe rows, or one that its operator holds as such. Rows hold
 * a value of up to 8 bytes in a word of their own, as Arrow has it; of others, the word tells where
 * in the row they are.
 */
abstract class VectorWriter {
  private static final int BITS_PER_WORD = 6;

  /**
   * The writer for a vector that {@code ArrowUtils} has made for a type.
   *
   * @param fields of the rows
   */
  static VectorWriter of(FieldVector vector, int fields) {
    vector.allocateNew();
    if (vector instanceof BitVector) {
      return new Booleans((BitVector) vector);
    } else if (vector instanceof TinyIntVector) {
      return new Words((BaseFixedWidthVector) vector, Byte.BYTES);
    } else if (vector instanceof SmallIntVector) {
      return new Words((BaseFixedWidthVector) vector, Short.BYTES);
    } else if (vector instanceof IntVector
        || vector instanceof Float4Vector
        || vector instanceof DateDayVector
        || vector instanceof IntervalYearVector) {
      return new Words((BaseFixedWidthVector) vector, Integer.BYTES);
    } else if (vector instanceof BigIntVector
        || vector instanceof Float8Vector
        || vector instanceof TimeStampVector
        || vector instanceof TimeNanoVector
        || vector instanceof DurationVector) {
      return new Words((BaseFixedWidthVector) vector, Long.BYTES);
    } else if (vector instanceof DecimalVector
        && ((DecimalVector) vector).getPrecision() <= Decimal.MAX_LONG_DIGITS()) {
      return new CompactDecimals((DecimalVector) vector);
    } else if (vector instanceof VarCharVector || vector instanceof VarBinaryVector) {
      return new SmallBytes((BaseVariableWidthVector) vector);
    } else if (vector instanceof BaseLargeVariableWidthVector) {
      return new LargeBytes((BaseLargeVariableWidthVector) vector);
    } else {
      return new Others(vector, fields);
    }
  }

  /**
   * Appends a value of each row.
   *
   * @param rows addresses of the rows of an {@code InputBundle}
   * @param count how many there are
   * @param at how many values the vector has
   * @param bitSetBytes what precedes the words of a row
   */
  abstract void append(long[] rows, int count, int at, int ordinal, int bitSetBytes);

  /**
   * Appends the first values of a column.
   *
   * @param at how many values the vector has
   */
  abstract void append(ColumnVector column, int count, int at);

  /** What the buffers hold for so many values. */
  abstract long bytes(int values);

  abstract void finish(int values);

  void reset() {}

  static boolean isNull(long row, int ordinal) {
    long word = Platform.getLong(null, row + ((ordinal >> BITS_PER_WORD) << 3));
    return ((word >>> ordinal) & 1) != 0;
  }

  /** Appends to a bitmap which of the rows have a value. */
  static void appendValidity(long bitmap, long[] rows, int count, int at, int ordinal) {
    int bits = pending(bitmap, at);
    int position = at;
    for (int i = 0; i < count; i++) {
      if (!isNull(rows[i], ordinal)) {
        bits |= 1 << (position & 7);
      }
      position++;
      if ((position & 7) == 0) {
        Platform.putByte(null, bitmap + (position >> 3) - 1, (byte) bits);
        bits = 0;
      }
    }
    putPending(bitmap, position, bits);
  }

  /** Appends to a bitmap which values of a column there are. */
  static void appendValidity(long bitmap, ColumnVector column, int count, int at) {
    if (!column.hasNull()) {
      putOnes(bitmap, count, at);
      return;
    }
    int bits = pending(bitmap, at);
    int position = at;
    for (int i = 0; i < count; i++) {
      if (!column.isNullAt(i)) {
        bits |= 1 << (position & 7);
      }
      position++;
      if ((position & 7) == 0) {
        Platform.putByte(null, bitmap + (position >> 3) - 1, (byte) bits);
        bits = 0;
      }
    }
    putPending(bitmap, position, bits);
  }

  /** Also to the rest of the last byte. */
  private static void putOnes(long bitmap, int count, int at) {
    if (count > 0) {
      long first = bitmap + (at >> 3);
      Platform.putByte(null, first, (byte) (pending(bitmap, at) | 0xFF << (at & 7)));
      Platform.setMemory(first + 1, (byte) 0xFF, bitmap + ((at + count + 7) >> 3) - first - 1);
    }
  }

  /** The bits of a byte that is only partly written. */
  static int pending(long bitmap, int position) {
    int inByte = position & 7;
    return inByte == 0 ? 0 : Platform.getByte(null, bitmap + (position >> 3)) & ((1 << inByte) - 1);
  }

  static void putPending(long bitmap, int position, int bits) {
    if ((position & 7) != 0) {
      Platform.putByte(null, bitmap + (position >> 3), (byte) bits);
    }
  }

  private abstract static class FixedWidth extends VectorWriter {
    final BaseFixedWidthVector vector;

    FixedWidth(BaseFixedWidthVector vector) {
      this.vector = vector;
    }

    @Override
    final void append(long[] rows, int count, int at, int ordinal, int bitSetBytes) {
      reserve(at + count);
      appendValidity(vector.getValidityBufferAddress(), rows, count, at, ordinal);
      appendValues(rows, count, at, bitSetBytes + ((long) ordinal << 3));
    }

    @Override
    final void append(ColumnVector column, int count, int at) {
      reserve(at + count);
      appendValidity(vector.getValidityBufferAddress(), column, count, at);
      appendValues(column, count, at, column.hasNull());
    }

    private void reserve(int values) {
      while (vector.getValueCapacity() < values) {
        vector.reAlloc();
      }
    }

    /**
     * @param word where in a row the value is
     */
    abstract void appendValues(long[] rows, int count, int at, long word);

    /**
     * @param nulls whether there are any; they must not be asked for
     */
    abstract void appendValues(ColumnVector column, int count, int at, boolean nulls);

    @Override
    final long bytes(int values) {
      return vector.getBufferSizeFor(values);
    }

    @Override
    final void finish(int values) {
      vector.setValueCount(values);
    }
  }

  /** Values that are the low bytes of their word. */
  private static final class Words extends FixedWidth {
    private final int width;

    Words(BaseFixedWidthVector vector, int width) {
      super(vector);
      this.width = width;
    }

    @Override
    void appendValues(long[] rows, int count, int at, long word) {
      long to = vector.getDataBufferAddress() + (long) at * width;
      switch (width) {
        case Long.BYTES:
          for (int i = 0; i < count; i++) {
            Platform.putLong(null, to + 8L * i, Platform.getLong(null, rows[i] + word));
          }
          break;
        case Integer.BYTES:
          for (int i = 0; i < count; i++) {
            Platform.putInt(null, to + 4L * i, Platform.getInt(null, rows[i] + word));
          }
          break;
        case Short.BYTES:
          for (int i = 0; i < count; i++) {
            Platform.putShort(null, to + 2L * i, Platform.getShort(null, rows[i] + word));
          }
          break;
        default:
          for (int i = 0; i < count; i++) {
            Platform.putByte(null, to + i, Platform.getByte(null, rows[i] + word));
          }
      }
    }

    @Override
    void appendValues(ColumnVector column, int count, int at, boolean nulls) {
      long to = vector.getDataBufferAddress() + (long) at * width;
      if (vector instanceof Float8Vector) {
        for (int i = 0; i < count; i++) {
          if (!(nulls && column.isNullAt(i))) {
            Platform.putDouble(null, to + 8L * i, column.getDouble(i));
          }
        }
      } else if (vector instanceof Float4Vector) {
        for (int i = 0; i < count; i++) {
          if (!(nulls && column.isNullAt(i))) {
            Platform.putFloat(null, to + 4L * i, column.getFloat(i));
          }
        }
      } else if (width == Long.BYTES) {
        for (int i = 0; i < count; i++) {
          if (!(nulls && column.isNullAt(i))) {
            Platform.putLong(null, to + 8L * i, column.getLong(i));
          }
        }
      } else if (width == Integer.BYTES) {
        for (int i = 0; i < count; i++) {
          if (!(nulls && column.isNullAt(i))) {
            Platform.putInt(null, to + 4L * i, column.getInt(i));
          }
        }
      } else if (width == Short.BYTES) {
        for (int i = 0; i < count; i++) {
          if (!(nulls && column.isNullAt(i))) {
            Platform.putShort(null, to + 2L * i, column.getShort(i));
          }
        }
      } else {
        for (int i = 0; i < count; i++) {
          if (!(nulls && column.isNullAt(i))) {
            Platform.putByte(null, to + i, column.getByte(i));
          }
        }
      }
    }
  }

  private static final class Booleans extends FixedWidth {
    Booleans(BitVector vector) {
      super(vector);
    }

    @Override
    void appendValues(ColumnVector column, int count, int at, boolean nulls) {
      long bitmap = vector.getDataBufferAddress();
      int bits = pending(bitmap, at);
      int position = at;
      for (int i = 0; i < count; i++) {
        boolean value = !(nulls && column.isNullAt(i)) && column.getBoolean(i);
        bits |= (value ? 1 : 0) << (position & 7);
        position++;
        if ((position & 7) == 0) {
          Platform.putByte(null, bitmap + (position >> 3) - 1, (byte) bits);
          bits = 0;
        }
      }
      putPending(bitmap, position, bits);
    }

    @Override
    void appendValues(long[] rows, int count, int at, long word) {
      long bitmap = vector.getDataBufferAddress();
      int bits = pending(bitmap, at);
      int position = at;
      for (int i = 0; i < count; i++) {
        bits |= (Platform.getByte(null, rows[i] + word) & 1) << (position & 7);
        position++;
        if ((position & 7) == 0) {
          Platform.putByte(null, bitmap + (position >> 3) - 1, (byte) bits);
          bits = 0;
        }
      }
      putPending(bitmap, position, bits);
    }
  }

  /** Decimals whose unscaled value is a word; Arrow has 128 bits for it. */
  private static final class CompactDecimals extends FixedWidth {
    private final int precision;
    private final int scale;

    CompactDecimals(DecimalVector vector) {
      super(vector);
      precision = vector.getPrecision();
      scale = vector.getScale();
    }

    @Override
    void appendValues(long[] rows, int count, int at, long word) {
      for (int i = 0; i < count; i++) {
        put(at + i, Platform.getLong(null, rows[i] + word));
      }
    }

    @Override
    void appendValues(ColumnVector column, int count, int at, boolean nulls) {
      for (int i = 0; i < count; i++) {
        if (!(nulls && column.isNullAt(i))) {
          put(at + i, column.getDecimal(i, precision, scale).toUnscaledLong());
        }
      }
    }

    private void put(int index, long unscaled) {
      long to = vector.getDataBufferAddress() + (long) index * DecimalVector.TYPE_WIDTH;
      Platform.putLong(null, to, unscaled);
      Platform.putLong(null, to + Long.BYTES, unscaled >> (Long.SIZE - 1));
    }
  }

  /** Strings and binaries. */
  private abstract static class Bytes extends VectorWriter {
    private final FieldVector vector;
    private final boolean large;

    /** Where values go while they are appended. */
    private long offsets;

    private long data;
    private long capacity;
    private long end;

    /**
     * @param large whether offsets have 64 bits, and not 32
     */
    Bytes(FieldVector vector, boolean large) {
      this.vector = vector;
      this.large = large;
    }

    @Override
    final void append(long[] rows, int count, int at, int ordinal, int bitSetBytes) {
      begin(count, at);
      appendValidity(vector.getValidityBuffer().memoryAddress(), rows, count, at, ordinal);
      long word = bitSetBytes + ((long) ordinal << 3);
      for (int i = 0; i < count; i++) {
        // A null has no bytes.
        long place = Platform.getLong(null, rows[i] + word);
        int size = isNull(rows[i], ordinal) ? 0 : (int) place;
        put(at + i, null, rows[i] + (place >>> Integer.SIZE), size);
      }
    }

    @Override
    final void append(ColumnVector column, int count, int at) {
      begin(count, at);
      appendValidity(vector.getValidityBuffer().memoryAddress(), column, count, at);
      boolean nulls = column.hasNull();
      boolean binary = column.dataType() instanceof BinaryType;
      for (int i = 0; i < count; i++) {
        if (nulls && column.isNullAt(i)) {
          put(at + i, null, 0, 0);
        } else if (binary) {
          byte[] bytes = column.getBinary(i);
          put(at + i, bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
        } else {
          UTF8String text = column.getUTF8String(i);
          put(at + i, text.getBaseObject(), text.getBaseOffset(), text.numBytes());
        }
      }
    }

    private void begin(int count, int at) {
      while (vector.getValueCapacity() < at + count) {
        growRows();
      }
      offsets = vector.getOffsetBuffer().memoryAddress();
      data = vector.getDataBuffer().memoryAddress();
      capacity = vector.getDataBuffer().capacity();
      end = at == 0 ? 0 : offset(offsets, at);
      putOffset(offsets, at, end);
    }

    private void put(int index, Object base, long from, int size) {
      while (end + size > capacity) {
        growData(end, end + size);
        data = vector.getDataBuffer().memoryAddress();
        capacity = vector.getDataBuffer().capacity();
      }
      Platform.copyMemory(base, from, null, data + end, size);
      end += size;
      putOffset(offsets, index + 1, end);
    }

    private long offset(long offsets, int index) {
      return large
          ? Platform.getLong(null, offsets + 8L * index)
          : Platform.getInt(null, offsets + 4L * index);
    }

    private void putOffset(long offsets, int index, long offset) {
      if (large) {
        Platform.putLong(null, offsets + 8L * index, offset);
      } else {
        Platform.putInt(null, offsets + 4L * index, (int) offset);
      }
    }

    abstract void growRows();

    abstract void growData(long used, long needed);

    @Override
    final long bytes(int values) {
      finish(values);
      return vector.getBufferSizeFor(values);
    }
  }

  private static final class SmallBytes extends Bytes {
    private final BaseVariableWidthVector vector;

    SmallBytes(BaseVariableWidthVector vector) {
      super(vector, false);
      this.vector = vector;
    }

    @Override
    void growRows() {
      vector.reallocValidityAndOffsetBuffers();
    }

    @Override
    void growData(long used, long needed) {
      if (needed > Integer.MAX_VALUE) {
        throw new OversizedAllocationException(
            "a batch has more than 2 GiB in one column; lower "
                + "spark.sql.execution.arrow.maxRecordsPerBatch");
      }
      vector.reallocDataBuffer(Math.min(Integer.MAX_VALUE, Math.max(needed, 2 * used)));
    }

    @Override
    void finish(int values) {
      vector.setLastSet(values - 1);
      vector.setValueCount(values);
    }
  }

  private static final class LargeBytes extends Bytes {
    private final BaseLargeVariableWidthVector vector;

    LargeBytes(BaseLargeVariableWidthVector vector) {
      super(vector, true);
      this.vector = vector;
    }

    @Override
    void growRows() {
      vector.reallocValidityAndOffsetBuffers();
    }

    @Override
    void growData(long used, long needed) {
      vector.reallocDataBuffer();
    }

    @Override
    void finish(int values) {
      vector.setLastSet(values - 1);
      vector.setValueCount(values);
    }
  }

  /** All other types, value by value as Spark writes them. */
  private static final class Others extends VectorWriter {
    private final ArrowFieldWriter writer;
    private final UnsafeRow row;

    Others(FieldVector vector, int fields) {
      writer = ArrowWriter$.MODULE$.createFieldWriter(vector);
      row = new UnsafeRow(fields);
    }

    @Override
    void append(long[] rows, int count, int at, int ordinal, int bitSetBytes) {
      for (int i = 0; i < count; i++) {
        // Its size precedes a row.
        row.pointTo(null, rows[i], (int) Platform.getLong(null, rows[i] - Long.BYTES));
        writer.write(row, ordinal);
      }
    }

    @Override
    void append(ColumnVector column, int count, int at) {
      ColumnarBatchRow values = new ColumnarBatchRow(new ColumnVector[] {column});
      for (int i = 0; i < count; i++) {
        values.rowId = i;
        writer.write(values, 0);
      }
    }

    @Override
    long bytes(int values) {
      return writer.getSizeInBytes();
    }

    @Override
    void finish(int values) {
      writer.finish();
    }

    @Override
    void reset() {
      writer.reset();
    }
  }
}
