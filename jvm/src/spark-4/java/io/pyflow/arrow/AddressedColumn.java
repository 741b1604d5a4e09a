package io.pyflow.arrow;

import java.util.List;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DurationVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.IntervalYearVector;
import org.apache.arrow.vector.SmallIntVector;
import org.apache.arrow.vector.TimeNanoVector;
import org.apache.arrow.vector.TimeStampMicroTZVector;
import org.apache.arrow.vector.TimeStampMicroVector;
import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.sql.util.ArrowUtils;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A column of the batches that Python makes, read by address: Arrow's own vectors check every
 * access, which is most of their cost. Types that are not read so are left to {@link
 * ArrowColumnVector}. {@link ImportedColumn} adds the getters that a version of Spark has beside
 * those of all.
 */
abstract class AddressedColumn extends ColumnVector {
  enum Values {
    BOOLEAN,
    BYTE,
    SHORT,
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    STRING,
    BINARY,
    STRUCT
  }

  private final FieldVector vector;
  private final Values values;
  private final AddressedColumn[] children;
  private final ColumnVector[] fields;
  private int nulls;
  private long validity;
  private long data;
  private long dataBytes;
  private long offsets;

  AddressedColumn(FieldVector vector, Values values, ColumnVector... fields) {
    super(ArrowUtils.fromArrowField(vector.getField()));
    this.vector = vector;
    this.values = values;
    this.fields = fields;
    this.children =
        List.of(fields).stream()
            .filter(AddressedColumn.class::isInstance)
            .toArray(AddressedColumn[]::new);
  }

  /** The column of a vector. */
  static ColumnVector of(FieldVector vector) {
    if (vector instanceof BitVector) {
      return new ImportedColumn(vector, Values.BOOLEAN);
    } else if (vector instanceof TinyIntVector) {
      return new ImportedColumn(vector, Values.BYTE);
    } else if (vector instanceof SmallIntVector) {
      return new ImportedColumn(vector, Values.SHORT);
    } else if (vector instanceof IntVector
        || vector instanceof DateDayVector
        || vector instanceof IntervalYearVector) {
      return new ImportedColumn(vector, Values.INT);
    } else if (vector instanceof BigIntVector
        || vector instanceof TimeStampMicroVector
        || vector instanceof TimeStampMicroTZVector
        || vector instanceof TimeNanoVector
        || vector instanceof DurationVector) {
      return new ImportedColumn(vector, Values.LONG);
    } else if (vector instanceof Float4Vector) {
      return new ImportedColumn(vector, Values.FLOAT);
    } else if (vector instanceof Float8Vector) {
      return new ImportedColumn(vector, Values.DOUBLE);
    } else if (vector instanceof VarCharVector) {
      return new ImportedColumn(vector, Values.STRING);
    } else if (vector instanceof VarBinaryVector) {
      return new ImportedColumn(vector, Values.BINARY);
    } else if (vector instanceof StructVector && hasPlainFields(vector)) {
      ColumnVector[] fields =
          vector.getChildrenFromFields().stream()
              .map(AddressedColumn::of)
              .toArray(ColumnVector[]::new);
      return new ImportedColumn(vector, Values.STRUCT, fields);
    } else {
      return new ArrowColumnVector(vector);
    }
  }

  private static boolean hasPlainFields(FieldVector vector) {
    DataType type = ArrowUtils.fromArrowField(vector.getField());
    return type instanceof StructType || type instanceof VariantType;
  }

  /** Takes over what has been loaded into the vector. */
  void reload() {
    nulls = vector.getNullCount();
    validity = nulls == 0 ? 0 : vector.getValidityBuffer().memoryAddress();
    if (vector instanceof BaseFixedWidthVector) {
      data = vector.getDataBuffer().memoryAddress();
    } else if (vector instanceof BaseVariableWidthVector) {
      data = vector.getDataBuffer().memoryAddress();
      dataBytes = vector.getDataBuffer().capacity();
      offsets = vector.getOffsetBuffer().memoryAddress();
    }
    for (AddressedColumn child : children) {
      child.reload();
    }
  }

  @Override
  public void close() {
    vector.close();
  }

  @Override
  public boolean hasNull() {
    return nulls > 0;
  }

  @Override
  public int numNulls() {
    return nulls;
  }

  @Override
  public boolean isNullAt(int row) {
    return nulls > 0 && !bit(validity, row);
  }

  private static boolean bit(long bitmap, int position) {
    return (Platform.getByte(null, bitmap + (position >> 3)) & (1 << (position & 7))) != 0;
  }

  /** Whether there is a value, of this type. */
  private boolean has(Values type, int row) {
    return values == type && !isNullAt(row);
  }

  /**
   * For values that Python should not have returned: of another type than declared, or null where
   * the declaration excludes it. Spark's own vector reads or refuses them.
   */
  final ArrowColumnVector others() {
    return new ArrowColumnVector(vector);
  }

  @Override
  public boolean getBoolean(int row) {
    return has(Values.BOOLEAN, row) ? bit(data, row) : others().getBoolean(row);
  }

  @Override
  public byte getByte(int row) {
    return has(Values.BYTE, row) ? Platform.getByte(null, data + row) : others().getByte(row);
  }

  @Override
  public short getShort(int row) {
    return has(Values.SHORT, row)
        ? Platform.getShort(null, data + ((long) row << 1))
        : others().getShort(row);
  }

  @Override
  public int getInt(int row) {
    return has(Values.INT, row)
        ? Platform.getInt(null, data + ((long) row << 2))
        : others().getInt(row);
  }

  @Override
  public long getLong(int row) {
    return has(Values.LONG, row)
        ? Platform.getLong(null, data + ((long) row << 3))
        : others().getLong(row);
  }

  @Override
  public float getFloat(int row) {
    return has(Values.FLOAT, row)
        ? Platform.getFloat(null, data + ((long) row << 2))
        : others().getFloat(row);
  }

  @Override
  public double getDouble(int row) {
    return has(Values.DOUBLE, row)
        ? Platform.getDouble(null, data + ((long) row << 3))
        : others().getDouble(row);
  }

  /** Spark's own vectors would read whatever lies there, or crash. */
  private void checkWithinData(int row, int start, int end) {
    if (start < 0 || start > end || end > dataBytes) {
      throw new IllegalStateException(
          "Python returned an invalid Arrow array in column "
              + vector.getName()
              + ": value "
              + row
              + " lies from byte "
              + start
              + " to "
              + end
              + " of "
              + dataBytes);
    }
  }

  @Override
  public UTF8String getUTF8String(int row) {
    if (!has(Values.STRING, row)) {
      return others().getUTF8String(row);
    }
    int start = Platform.getInt(null, offsets + ((long) row << 2));
    int end = Platform.getInt(null, offsets + ((long) (row + 1) << 2));
    checkWithinData(row, start, end);
    return UTF8String.fromAddress(null, data + start, end - start);
  }

  @Override
  public byte[] getBinary(int row) {
    if (!has(Values.BINARY, row)) {
      return others().getBinary(row);
    }
    int start = Platform.getInt(null, offsets + ((long) row << 2));
    int end = Platform.getInt(null, offsets + ((long) (row + 1) << 2));
    checkWithinData(row, start, end);
    byte[] bytes = new byte[end - start];
    Platform.copyMemory(null, data + start, bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
    return bytes;
  }

  @Override
  public ColumnVector getChild(int ordinal) {
    return values == Values.STRUCT ? fields[ordinal] : others().getChild(ordinal);
  }

  @Override
  public Decimal getDecimal(int row, int precision, int scale) {
    return others().getDecimal(row, precision, scale);
  }

  @Override
  public CalendarInterval getInterval(int row) {
    return others().getInterval(row);
  }

  @Override
  public ColumnarArray getArray(int row) {
    return others().getArray(row);
  }

  @Override
  public ColumnarMap getMap(int row) {
    return others().getMap(row);
  }
}
