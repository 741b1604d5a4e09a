package io.pyflow.arrow;

import io.pyflow.bridge.InputBundle;
import io.pyflow.bridge.LentMemory;
import io.pyflow.bridge.PythonBatches;
import org.apache.spark.unsafe.Platform;

/** Lends rows to Python, bundle by bundle, each in the only buffer of an ArrowArray. */
public final class ExportedRows implements AutoCloseable {
  private final InputBundle rows;
  private final LentMemory memory;

  /**
   * @param memory what is lent
   */
  public ExportedRows(LentMemory memory) {
    this.memory = memory;
    this.rows = new InputBundle(bytes -> memory.refused(bytes, this::what));
  }

  private String what() {
    return "after " + rows.rows() + " rows";
  }

  /** The rows to be lent next; may be filled at any time. */
  public InputBundle rows() {
    return rows;
  }

  /** Lends the rows: describes them in the structure at the address. */
  public void export(long array) {
    long beforeRows = LentMemory.HEADER_BYTES + Long.BYTES;
    long block = memory.allocate(beforeRows + rows.bytes(), 1, () -> rows.rows() + " rows");
    long pointer = block + LentMemory.HEADER_BYTES;
    CDataArray.putPointer(pointer, 0, block + beforeRows);
    Platform.copyMemory(null, rows.address(), null, block + beforeRows, rows.bytes());
    CDataArray.put(array, CDataArray.LENGTH, rows.rows());
    CDataArray.put(array, CDataArray.NULL_COUNT, 0);
    CDataArray.put(array, CDataArray.OFFSET, 0);
    CDataArray.put(array, CDataArray.N_BUFFERS, 1);
    CDataArray.put(array, CDataArray.N_CHILDREN, 0);
    CDataArray.put(array, CDataArray.BUFFERS, pointer);
    CDataArray.put(array, CDataArray.CHILDREN, 0);
    CDataArray.put(array, CDataArray.DICTIONARY, 0);
    CDataArray.put(array, CDataArray.RELEASE, PythonBatches.releaseCallback());
    CDataArray.put(array, CDataArray.PRIVATE_DATA, block);
  }

  @Override
  public void close() {
    rows.free();
  }
}
