package io.pyflow.arrow;

import org.apache.spark.unsafe.Platform;

/**
 * The fields of {@code struct ArrowArray}, by their offsets from its address.
 *
 * @see <a href="https://arrow.apache.org/docs/format/CDataInterface.html">C data interface</a>
 */
final class CDataArray {
  static final int BYTES = 80;
  static final int LENGTH = 0;
  static final int NULL_COUNT = 8;
  static final int OFFSET = 16;
  static final int N_BUFFERS = 24;
  static final int N_CHILDREN = 32;
  static final int BUFFERS = 40;
  static final int CHILDREN = 48;
  static final int DICTIONARY = 56;
  static final int RELEASE = 64;
  static final int PRIVATE_DATA = 72;

  private CDataArray() {}

  static long get(long array, int field) {
    return Platform.getLong(null, array + field);
  }

  static void put(long array, int field, long value) {
    Platform.putLong(null, array + field, value);
  }

  /** The i-th of the pointers at an address. */
  static long pointer(long pointers, int i) {
    return Platform.getLong(null, pointers + 8L * i);
  }

  static void putPointer(long pointers, int i, long value) {
    Platform.putLong(null, pointers + 8L * i, value);
  }
}
