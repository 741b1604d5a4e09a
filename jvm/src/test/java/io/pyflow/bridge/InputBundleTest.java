package io.pyflow.bridge;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;
import org.junit.After;
import org.junit.Test;

public class InputBundleTest {
  private final InputBundle bundle = new InputBundle(bytes -> null);

  @After
  public void free() {
    bundle.free();
  }

  private static UnsafeRow row(int bytes, int first) {
    byte[] content = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      content[i] = (byte) (first + i);
    }
    UnsafeRow row = new UnsafeRow(1);
    row.pointTo(content, bytes);
    return row;
  }

  private static byte[] bytesAt(long address, int count) {
    byte[] content = new byte[count];
    Platform.copyMemory(null, address, content, Platform.BYTE_ARRAY_OFFSET, count);
    return content;
  }

  @Test
  public void aRowIsItsSizeAndItsBytes() {
    UnsafeRow row = row(24, 1);

    bundle.add(row);

    assertEquals(1, bundle.rows());
    assertEquals(Long.BYTES + 24, bundle.bytes());
    assertEquals(24, Platform.getLong(null, bundle.address()));
    assertArrayEquals(row.getBytes(), bytesAt(bundle.address() + Long.BYTES, 24));
  }

  @Test
  public void rowsOfAllSizesStandBackToBack() {
    int[] sizes = {16, 64, 72, 4096, 8};
    for (int size : sizes) {
      bundle.add(row(size, size));
    }

    long address = bundle.address();
    for (int size : sizes) {
      assertEquals(size, Platform.getLong(null, address));
      assertArrayEquals(row(size, size).getBytes(), bytesAt(address + Long.BYTES, size));
      address += Long.BYTES + size;
    }
    assertEquals(bundle.address() + bundle.bytes(), address);
  }

  @Test
  public void growingKeepsWhatIsThere() {
    UnsafeRow small = row(16, 7);
    bundle.add(small);

    bundle.add(row(32 << 20, 0));

    assertArrayEquals(small.getBytes(), bytesAt(bundle.address() + Long.BYTES, 16));
    assertEquals(2 * Long.BYTES + 16 + (32 << 20), bundle.bytes());
  }

  @Test
  public void aClearedBundleIsEmptyAndCanBeFilledAgain() {
    bundle.add(row(32 << 20, 0));
    bundle.clear();
    assertEquals(0, bundle.rows());
    assertEquals(0, bundle.bytes());

    UnsafeRow row = row(16, 3);
    bundle.add(row);

    assertArrayEquals(row.getBytes(), bytesAt(bundle.address() + Long.BYTES, 16));
  }
}
