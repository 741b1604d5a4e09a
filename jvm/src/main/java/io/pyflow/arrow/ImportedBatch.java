package io.pyflow.arrow;

import io.pyflow.bridge.PythonBatches;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.ForeignAllocation;
import org.apache.arrow.vector.BitVectorHelper;
import org.apache.arrow.vector.BufferLayout;
import org.apache.arrow.vector.BufferLayout.BufferType;
import org.apache.arrow.vector.TypeLayout;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.spark.unsafe.Platform;

/**
 * An array that Python has exported, whose buffers are used where they are. Python gets them back
 * when the last vector has released them.
 */
final class ImportedBatch implements AutoCloseable {
  private final long array;
  private final BufferAllocator allocator;
  private final List<ArrowFieldNode> nodes = new ArrayList<>();
  private final List<ArrowBuf> buffers = new ArrayList<>();

  /** Buffers that are in use, and one until this is closed. */
  private final AtomicInteger users = new AtomicInteger(1);

  /**
   * @param array address of an ArrowArray without offsets; owned from now on
   */
  ImportedBatch(long array, BufferAllocator allocator) {
    this.array = array;
    this.allocator = allocator;
  }

  /** Has the columns of a root use the buffers of the array, a struct. */
  void load(VectorSchemaRoot root) {
    List<Field> fields = root.getSchema().getFields();
    require(array, "a batch", 1, fields.size());
    addAll(fields, array);
    int rows = (int) CDataArray.get(array, CDataArray.LENGTH);
    try (ArrowRecordBatch batch = new ArrowRecordBatch(rows, nodes, buffers)) {
      new VectorLoader(root).load(batch);
    }
  }

  /** The values of the array, of one byte each; until it is closed. */
  ArrowBuf values() {
    require(array, "bytes", 2, 0);
    long pointers = CDataArray.get(array, CDataArray.BUFFERS);
    ArrowBuf values =
        wrap(CDataArray.pointer(pointers, 1), CDataArray.get(array, CDataArray.LENGTH));
    buffers.add(values);
    return values;
  }

  /** Fails unless an array has the structure that its type has: only then its pointers are. */
  private static void require(long from, String what, int buffers, int children) {
    long offset = CDataArray.get(from, CDataArray.OFFSET);
    long bufferCount = CDataArray.get(from, CDataArray.N_BUFFERS);
    long childCount = CDataArray.get(from, CDataArray.N_CHILDREN);
    boolean encoded = CDataArray.get(from, CDataArray.DICTIONARY) != 0;
    if (offset != 0 || bufferCount != buffers || childCount != children || encoded) {
      throw new IllegalStateException(
          String.format(
              "Python exported %s with offset %d, %d buffers, %d children and %s dictionary; "
                  + "expected offset 0, %d buffers, %d children and no dictionary",
              what, offset, bufferCount, childCount, encoded ? "a" : "no", buffers, children));
    }
  }

  private void addAll(List<Field> fields, long parent) {
    long children = CDataArray.get(parent, CDataArray.CHILDREN);
    for (int i = 0; i < fields.size(); i++) {
      add(fields.get(i), CDataArray.pointer(children, i));
    }
  }

  private void add(Field field, long from) {
    List<BufferLayout> layouts = TypeLayout.getTypeLayout(field.getType()).getBufferLayouts();
    require(from, "column " + field.getName(), layouts.size(), field.getChildren().size());
    long length = CDataArray.get(from, CDataArray.LENGTH);
    long pointers = CDataArray.get(from, CDataArray.BUFFERS);
    int firstOfField = buffers.size();
    for (int i = 0; i < layouts.size(); i++) {
      long address = CDataArray.pointer(pointers, i);
      buffers.add(
          address == 0 ? allocator.getEmpty() : wrap(address, size(layouts, i, length, pointers)));
    }
    nodes.add(new ArrowFieldNode(length, nulls(from, length, layouts, firstOfField)));
    addAll(field.getChildren(), from);
  }

  private long nulls(long from, long length, List<BufferLayout> layouts, int firstOfField) {
    long nulls = CDataArray.get(from, CDataArray.NULL_COUNT);
    if (nulls >= 0) {
      return nulls;
    }
    boolean hasValidity = !layouts.isEmpty() && buffers.get(firstOfField).capacity() > 0;
    return hasValidity
        ? BitVectorHelper.getNullCount(buffers.get(firstOfField), (int) length)
        : layouts.isEmpty() ? length : 0;
  }

  private static long size(List<BufferLayout> layouts, int index, long length, long pointers) {
    BufferLayout layout = layouts.get(index);
    int bits = layout.getTypeBitWidth();
    if (layout.getType() == BufferType.OFFSET) {
      return (length + 1) * (bits / 8);
    }
    boolean hasOffsets = index > 0 && layouts.get(index - 1).getType() == BufferType.OFFSET;
    if (layout.getType() == BufferType.DATA && hasOffsets) {
      long offsets = CDataArray.pointer(pointers, index - 1);
      int width = layouts.get(index - 1).getTypeBitWidth() / 8;
      long last = offsets + length * width;
      return width == Integer.BYTES ? Platform.getInt(null, last) : Platform.getLong(null, last);
    }
    return (length * bits + 7) / 8;
  }

  private ArrowBuf wrap(long address, long size) {
    if (size == 0) {
      return allocator.getEmpty();
    }
    users.incrementAndGet();
    return allocator.wrapForeignAllocation(
        new ForeignAllocation(size, address) {
          @Override
          protected void release0() {
            release();
          }
        });
  }

  /** Releases the array; the vectors that it was loaded into keep the buffers that they use. */
  @Override
  public void close() {
    buffers.forEach(ArrowBuf::close);
    release();
  }

  private void release() {
    if (users.decrementAndGet() == 0) {
      PythonBatches.releaseArray(array);
      Platform.freeMemory(array);
    }
  }
}
