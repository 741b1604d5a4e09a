package io.pyflow.arrow;

import io.pyflow.bridge.PythonStream;
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
 * A batch that Python has exported, read into vectors that use Python's buffers where they are.
 * Python gets them back when the last vector lets go.
 */
final class ImportedBatch {
  private final long array;
  private final BufferAllocator allocator;
  private final List<ArrowFieldNode> nodes = new ArrayList<>();
  private final List<ArrowBuf> buffers = new ArrayList<>();

  /** Buffers that are in use, and one for the import itself. */
  private final AtomicInteger users = new AtomicInteger(1);

  private ImportedBatch(long array, BufferAllocator allocator) {
    this.array = array;
    this.allocator = allocator;
  }

  /**
   * Loads a batch.
   *
   * @param array address of an ArrowArray, a struct of the root's columns without offsets; owned
   *     from now on
   */
  static void load(long array, VectorSchemaRoot root, BufferAllocator allocator) {
    new ImportedBatch(array, allocator).load(root);
  }

  private void load(VectorSchemaRoot root) {
    try {
      long children = CDataArray.get(array, CDataArray.CHILDREN);
      List<Field> fields = root.getSchema().getFields();
      for (int i = 0; i < fields.size(); i++) {
        add(fields.get(i), CDataArray.pointer(children, i));
      }
      int rows = (int) CDataArray.get(array, CDataArray.LENGTH);
      try (ArrowRecordBatch batch = new ArrowRecordBatch(rows, nodes, buffers)) {
        new VectorLoader(root).load(batch);
      }
    } finally {
      buffers.forEach(ArrowBuf::close);
      release();
    }
  }

  private void add(Field field, long from) {
    long length = CDataArray.get(from, CDataArray.LENGTH);
    if (CDataArray.get(from, CDataArray.OFFSET) != 0) {
      throw new IllegalStateException("column " + field.getName() + " begins at an offset");
    }
    long pointers = CDataArray.get(from, CDataArray.BUFFERS);
    int firstOfField = buffers.size();
    List<BufferLayout> layouts = TypeLayout.getTypeLayout(field.getType()).getBufferLayouts();
    for (int i = 0; i < layouts.size(); i++) {
      long address = CDataArray.pointer(pointers, i);
      buffers.add(
          address == 0 ? allocator.getEmpty() : wrap(address, size(layouts, i, length, pointers)));
    }
    nodes.add(new ArrowFieldNode(length, nulls(from, length, layouts, firstOfField)));
    long children = CDataArray.get(from, CDataArray.CHILDREN);
    for (int i = 0; i < field.getChildren().size(); i++) {
      add(field.getChildren().get(i), CDataArray.pointer(children, i));
    }
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

  private void release() {
    if (users.decrementAndGet() == 0) {
      PythonStream.releaseArray(array);
      Platform.freeMemory(array);
    }
  }
}
