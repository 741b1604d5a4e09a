package io.pyflow.arrow;

import io.pyflow.bridge.LentMemory;
import io.pyflow.bridge.PythonBatches;
import java.util.List;
import java.util.function.Supplier;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.unsafe.Platform;

/**
 * The batches of one schema that a task lends to Python. They are written into vectors, always the
 * same, and their values are copied into a block of just that size: a function may keep it.
 */
final class ExportedBatches implements AutoCloseable {
  /** As malloc aligns; each buffer has so many bytes at least, as empty ones may be read, too. */
  private static final long ALIGNMENT = 16;

  private final VectorMemory allocator;
  private final VectorSchemaRoot root;
  private final BatchWriter writer;
  private final boolean inStruct;
  private final LentMemory memory;
  private final Supplier<String> what;

  /** The structures of a batch but for the first, which is Python's, and all their pointers. */
  private final int innerArrays;

  private final int pointers;

  // Where in the block the next ones go.
  private long block;
  private long nextArray;
  private long nextPointers;
  private long nextBuffer;

  /**
   * @param schema of the columns
   * @param inStruct whether Python gets them as the fields of its only column
   * @param memory what is lent
   * @param what is in the batch that is being made, for errors
   */
  ExportedBatches(Schema schema, boolean inStruct, LentMemory memory, Supplier<String> what) {
    this.allocator = new VectorMemory(memory, what);
    this.root = VectorSchemaRoot.create(schema, allocator);
    this.writer = new BatchWriter(root.getFieldVectors(), bytes -> memory.refused(bytes, what));
    this.inStruct = inStruct;
    this.memory = memory;
    this.what = what;
    int arrays = inStruct ? 1 : 0;
    int needed = inStruct ? 3 : 1; // the validity buffer of each struct, and the inner struct
    for (FieldVector vector : root.getFieldVectors()) {
      arrays += countArrays(vector);
      needed += countPointers(vector) + 1;
    }
    innerArrays = arrays;
    pointers = needed;
  }

  private static int countArrays(FieldVector vector) {
    int count = 1;
    for (FieldVector child : vector.getChildrenFromFields()) {
      count += countArrays(child);
    }
    return count;
  }

  private static int countPointers(FieldVector vector) {
    int count = vector.getFieldBuffers().size();
    for (FieldVector child : vector.getChildrenFromFields()) {
      count += 1 + countPointers(child);
    }
    return count;
  }

  /** What writes the next batch, empty. */
  BatchWriter begin() {
    writer.reset();
    return writer;
  }

  /** Lends the rows that have been written: describes them in the structure at the address. */
  void lend(long target) {
    writer.finish();
    List<FieldVector> vectors = root.getFieldVectors();
    long beforeBuffers =
        aligned(LentMemory.HEADER_BYTES + (long) innerArrays * CDataArray.BYTES + 8L * pointers);
    long bytes = beforeBuffers + bufferBytes(vectors);
    block = memory.allocate(bytes, innerArrays + 1, what);
    nextArray = block + LentMemory.HEADER_BYTES;
    nextPointers = nextArray + (long) innerArrays * CDataArray.BYTES;
    nextBuffer = block + beforeBuffers;
    if (inStruct) {
      long childPointer = pointers(1);
      CDataArray.putPointer(childPointer, 0, nextArray);
      putStruct(target, 1, childPointer);
      target = nextArray;
      nextArray += CDataArray.BYTES;
    }
    putStruct(target, vectors.size(), lendAll(vectors));
  }

  private static long bufferBytes(List<FieldVector> vectors) {
    long bytes = 0;
    for (FieldVector vector : vectors) {
      List<ArrowBuf> buffers = vector.getFieldBuffers();
      int first = vector.getNullCount() == 0 ? 1 : 0;
      for (int i = first; i < buffers.size(); i++) {
        bytes += room(buffers.get(i));
      }
      bytes += bufferBytes(vector.getChildrenFromFields());
    }
    return bytes;
  }

  private static long room(ArrowBuf buffer) {
    return Math.max(ALIGNMENT, aligned(buffer.readableBytes()));
  }

  private static long aligned(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** A struct with a value in every row. */
  private void putStruct(long array, int childCount, long childPointers) {
    long buffers = pointers(1);
    CDataArray.putPointer(buffers, 0, 0);
    put(array, writer.rows(), 0, 1, buffers, childCount, childPointers);
  }

  private long lendAll(List<FieldVector> vectors) {
    long childPointers = pointers(vectors.size());
    for (int i = 0; i < vectors.size(); i++) {
      CDataArray.putPointer(childPointers, i, lend(vectors.get(i)));
    }
    return childPointers;
  }

  private long lend(FieldVector vector) {
    long array = nextArray;
    nextArray += CDataArray.BYTES;
    List<ArrowBuf> vectorBuffers = vector.getFieldBuffers();
    int nulls = vector.getNullCount();
    long buffers = pointers(vectorBuffers.size());
    for (int i = 0; i < vectorBuffers.size(); i++) {
      boolean needless = i == 0 && nulls == 0; // the validity buffer, which comes first
      CDataArray.putPointer(buffers, i, needless ? 0 : copied(vectorBuffers.get(i)));
    }
    List<FieldVector> inner = vector.getChildrenFromFields();
    long childPointers = lendAll(inner);
    int length = vector.getValueCount();
    put(array, length, nulls, vectorBuffers.size(), buffers, inner.size(), childPointers);
    return array;
  }

  private long copied(ArrowBuf buffer) {
    long to = nextBuffer;
    long bytes = buffer.readableBytes();
    nextBuffer += room(buffer);
    Platform.setMemory(nextBuffer - ALIGNMENT, (byte) 0, ALIGNMENT);
    Platform.copyMemory(null, buffer.memoryAddress(), null, to, bytes);
    return to;
  }

  private void put(
      long array,
      long length,
      long nulls,
      int bufferCount,
      long buffers,
      int childCount,
      long childPointers) {
    CDataArray.put(array, CDataArray.LENGTH, length);
    CDataArray.put(array, CDataArray.NULL_COUNT, nulls);
    CDataArray.put(array, CDataArray.OFFSET, 0);
    CDataArray.put(array, CDataArray.N_BUFFERS, bufferCount);
    CDataArray.put(array, CDataArray.N_CHILDREN, childCount);
    CDataArray.put(array, CDataArray.BUFFERS, buffers);
    CDataArray.put(array, CDataArray.CHILDREN, childPointers);
    CDataArray.put(array, CDataArray.DICTIONARY, 0);
    CDataArray.put(array, CDataArray.RELEASE, PythonBatches.releaseCallback());
    CDataArray.put(array, CDataArray.PRIVATE_DATA, block);
  }

  private long pointers(int count) {
    long start = nextPointers;
    nextPointers += 8L * count;
    return start;
  }

  @Override
  public void close() {
    try {
      writer.close();
    } finally {
      allocator.close();
    }
  }
}
