package io.pyflow.arrow;

import io.pyflow.bridge.InputBundle;
import io.pyflow.bridge.PythonStream;
import java.lang.invoke.VarHandle;
import org.apache.spark.unsafe.Platform;

/**
 * Rows that Python reads where they are, lent in the only buffer of an ArrowArray. To be filled
 * again only when Python has released them.
 */
public final class LentRows implements LentPool.Lent {
  private static final int POINTER = 8;

  private final InputBundle rows = new InputBundle();

  /** How many arrays Python holds, 0 or 1, and the pointer to the buffer. */
  private final long block = Platform.allocateMemory(2 * Long.BYTES);

  public LentRows() {
    Platform.putLong(null, block, 0);
  }

  /** What can be filled while Python holds nothing of it. */
  public InputBundle rows() {
    return rows;
  }

  @Override
  public boolean isReleased() {
    boolean released = Platform.getLong(null, block) == 0;
    VarHandle.acquireFence();
    return released;
  }

  /** Lends the rows to whoever reads the structure at the address. */
  public void export(long array) {
    Platform.putLong(null, block, 1);
    CDataArray.putPointer(block + POINTER, 0, rows.address());
    CDataArray.put(array, CDataArray.LENGTH, rows.rows());
    CDataArray.put(array, CDataArray.NULL_COUNT, 0);
    CDataArray.put(array, CDataArray.OFFSET, 0);
    CDataArray.put(array, CDataArray.N_BUFFERS, 1);
    CDataArray.put(array, CDataArray.N_CHILDREN, 0);
    CDataArray.put(array, CDataArray.BUFFERS, block + POINTER);
    CDataArray.put(array, CDataArray.CHILDREN, 0);
    CDataArray.put(array, CDataArray.DICTIONARY, 0);
    CDataArray.put(array, CDataArray.RELEASE, PythonStream.releaseCallback());
    CDataArray.put(array, CDataArray.PRIVATE_DATA, block);
  }

  @Override
  public void free() {
    rows.free();
    Platform.freeMemory(block);
  }
}
