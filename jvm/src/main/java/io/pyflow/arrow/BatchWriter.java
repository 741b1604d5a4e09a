package io.pyflow.arrow;

import io.pyflow.bridge.InputBundle;
import io.pyflow.bridge.LentMemoryException;
import java.util.List;
import java.util.function.LongFunction;
import org.apache.arrow.vector.FieldVector;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;

/**
 * Writes rows into vectors. Rows are gathered first, as many as a cache holds, and then each column
 * takes its values from all of them: a loop over one type instead of a call per value.
 */
final class BatchWriter implements AutoCloseable {
  /** A multiple of 8, so that runs begin where a byte of a validity bitmap does. */
  private static final int RUN_ROWS = 256;

  private static final long RUN_BYTES = 128 << 10;

  private final List<FieldVector> vectors;
  private final VectorWriter[] columns;
  private final InputBundle run;
  private final long[] rows = new long[RUN_ROWS];
  private int rowsWritten;

  /** An upper bound of the size, for {@link #reaches} not to look at the vectors. */
  private long atMostBytes;

  /**
   * @param refused the error for so many bytes of rows that the system refuses
   */
  BatchWriter(List<FieldVector> vectors, LongFunction<LentMemoryException> refused) {
    this.vectors = vectors;
    this.run = new InputBundle(refused);
    this.columns =
        vectors.stream()
            .map(vector -> VectorWriter.of(vector, vectors.size()))
            .toArray(VectorWriter[]::new);
  }

  void write(UnsafeRow row) {
    run.add(row);
    // Of a value, Arrow has at most 16 bytes for 8 in a row, and a bit for being null.
    atMostBytes += 3L * row.getSizeInBytes();
    if (run.rows() == RUN_ROWS || run.bytes() >= RUN_BYTES) {
      flush();
    }
  }

  /** Writes the first rows of columns, after which no row can be written alone. */
  void write(ColumnVector[] from, int count) {
    for (int i = 0; i < columns.length; i++) {
      columns[i].append(from[i], count, rowsWritten);
    }
    rowsWritten += count;
  }

  /**
   * Whether the rows so far take so many bytes in their vectors.
   *
   * @param bitsPerRow what every row takes beside them
   */
  boolean reaches(long bytes, int bitsPerRow) {
    if (atMostBytes < bytes) {
      return false;
    }
    flush();
    long exact = ((long) rowsWritten * bitsPerRow + 7) / 8;
    for (VectorWriter column : columns) {
      exact += column.bytes(rowsWritten);
    }
    atMostBytes = exact;
    return exact >= bytes;
  }

  /** Makes the vectors ready to be read. */
  void finish() {
    flush();
    for (VectorWriter column : columns) {
      column.finish(rowsWritten);
    }
  }

  /** Begins anew, in the memory of the rows before. */
  void reset() {
    for (VectorWriter column : columns) {
      column.reset();
    }
    rowsWritten = 0;
    atMostBytes = 0;
  }

  private void flush() {
    int count = run.rows();
    if (count == 0) {
      return;
    }
    long next = run.address();
    for (int i = 0; i < count; i++) {
      rows[i] = next + Long.BYTES;
      next += Long.BYTES + Platform.getLong(null, next);
    }
    int bitSetBytes = UnsafeRow.calculateBitSetWidthInBytes(columns.length);
    for (int ordinal = 0; ordinal < columns.length; ordinal++) {
      columns[ordinal].append(rows, count, rowsWritten, ordinal, bitSetBytes);
    }
    rowsWritten += count;
    run.clear();
  }

  int rows() {
    return rowsWritten;
  }

  @Override
  public void close() {
    run.free();
    vectors.forEach(FieldVector::close);
  }
}
