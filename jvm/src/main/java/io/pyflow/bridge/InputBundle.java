package io.pyflow.bridge;

import java.util.function.LongFunction;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/**
 * Rows on their way into Python: off-heap memory that holds, for each row, its size in bytes as a
 * long and then the row itself. Grows with its rows; not thread-safe.
 */
public final class InputBundle {
  private static final long INITIAL_CAPACITY = 64 << 10;

  /** What an empty bundle may keep; a single huge row must not hold memory for the whole task. */
  private static final long KEPT_CAPACITY = 8 << 20;

  /** Below this, moving words costs less than calling copyMemory. */
  private static final int WORDWISE_BYTES = 64;

  private final LongFunction<LentMemoryException> refused;
  private long address;
  private long capacity;
  private long bytes;
  private int rows;

  /**
   * @param refused the error for so many bytes that the system refuses
   */
  public InputBundle(LongFunction<LentMemoryException> refused) {
    this.refused = refused;
    grow(INITIAL_CAPACITY);
  }

  public long address() {
    return address;
  }

  public long bytes() {
    return bytes;
  }

  public int rows() {
    return rows;
  }

  public void add(UnsafeRow row) {
    int size = row.getSizeInBytes();
    long end = bytes + Long.BYTES + size;
    if (end > capacity) {
      grow(end);
    }
    long to = address + bytes;
    Platform.putLong(null, to, size);
    to += Long.BYTES;
    Object base = row.getBaseObject();
    long from = row.getBaseOffset();
    if (size <= WORDWISE_BYTES) {
      for (int i = 0; i < size; i += Long.BYTES) {
        Platform.putLong(null, to + i, Platform.getLong(base, from + i));
      }
    } else {
      Platform.copyMemory(base, from, null, to, size);
    }
    bytes = end;
    rows++;
  }

  public void clear() {
    bytes = 0;
    rows = 0;
    if (capacity > KEPT_CAPACITY) {
      free();
      grow(INITIAL_CAPACITY);
    }
  }

  public void free() {
    Platform.freeMemory(address);
    address = 0;
    capacity = 0;
  }

  private void grow(long needed) {
    long larger = Math.max(needed, capacity * 2);
    try {
      address = Platform.reallocateMemory(address, capacity, larger);
    } catch (OutOfMemoryError e) { // which would end the executor
      throw refused.apply(larger);
    }
    capacity = larger;
  }
}
