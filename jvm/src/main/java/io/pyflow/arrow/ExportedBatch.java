package io.pyflow.arrow;

import io.pyflow.bridge.PythonStream;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.unsafe.Platform;

/**
 * Vectors whose buffers Python reads where they are. Filled by {@link #writer}, lent to Python by
 * {@link #export}, and to be filled again only when Python has released them all.
 */
final class ExportedBatch implements LentPool.Lent {
  private static final int COUNTER_BYTES = 8;

  final BatchWriter writer;
  private final VectorSchemaRoot root;
  private final boolean inStruct;

  /** The number of structures that Python holds, all structures but the first, their pointers. */
  private final long block;

  private final long arraysEnd;
  private final int arrays;

  /** Where the next structure and the next pointers go in the block. */
  private long nextArray;

  private long nextPointers;

  /**
   * @param schema of the columns
   * @param inStruct whether Python gets them as the fields of its only column
   */
  ExportedBatch(Schema schema, boolean inStruct, BufferAllocator allocator) {
    root = VectorSchemaRoot.create(schema, allocator);
    writer = new BatchWriter(root.getFieldVectors());
    this.inStruct = inStruct;
    int inner = inStruct ? 1 : 0;
    int pointers = inStruct ? 3 : 1; // the validity buffer of each struct, and the inner struct
    for (FieldVector vector : root.getFieldVectors()) {
      inner += countArrays(vector);
      pointers += countPointers(vector) + 1;
    }
    arrays = 1 + inner;
    long arraysBytes = (long) inner * CDataArray.BYTES;
    block = Platform.allocateMemory(COUNTER_BYTES + arraysBytes + 8L * pointers);
    arraysEnd = block + COUNTER_BYTES + arraysBytes;
    Platform.putLong(null, block, 0);
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

  @Override
  public boolean isReleased() {
    boolean released = Platform.getLong(null, block) == 0;
    VarHandle.acquireFence();
    return released;
  }

  /** Lends the rows that the writer has written to whoever reads the structure at the address. */
  void export(long target) {
    nextArray = block + COUNTER_BYTES;
    nextPointers = arraysEnd;
    Platform.putLong(null, block, arrays);
    if (inStruct) {
      long childPointer = pointers(1);
      CDataArray.putPointer(childPointer, 0, nextArray);
      putStruct(target, 1, childPointer);
      target = nextArray;
      nextArray += CDataArray.BYTES;
    }
    putStruct(target, root.getFieldVectors().size(), exportAll(root.getFieldVectors()));
  }

  /** A struct with a value in every row. */
  private void putStruct(long array, int childCount, long childPointers) {
    long buffers = pointers(1);
    CDataArray.putPointer(buffers, 0, 0);
    put(array, writer.rows(), 0, 1, buffers, childCount, childPointers);
  }

  private long exportAll(List<FieldVector> vectors) {
    long childPointers = pointers(vectors.size());
    for (int i = 0; i < vectors.size(); i++) {
      CDataArray.putPointer(childPointers, i, export(vectors.get(i)));
    }
    return childPointers;
  }

  private long export(FieldVector vector) {
    long array = nextArray;
    nextArray += CDataArray.BYTES;
    List<ArrowBuf> vectorBuffers = vector.getFieldBuffers();
    int nulls = vector.getNullCount();
    long buffers = pointers(vectorBuffers.size());
    for (int i = 0; i < vectorBuffers.size(); i++) {
      boolean needless = i == 0 && nulls == 0; // the validity buffer, which comes first
      CDataArray.putPointer(buffers, i, needless ? 0 : vectorBuffers.get(i).memoryAddress());
    }
    List<FieldVector> inner = vector.getChildrenFromFields();
    long childPointers = exportAll(inner);
    int length = vector.getValueCount();
    put(array, length, nulls, vectorBuffers.size(), buffers, inner.size(), childPointers);
    return array;
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
    CDataArray.put(array, CDataArray.RELEASE, PythonStream.releaseCallback());
    CDataArray.put(array, CDataArray.PRIVATE_DATA, block);
  }

  private long pointers(int count) {
    long start = nextPointers;
    nextPointers += 8L * count;
    return start;
  }

  @Override
  public void free() {
    writer.close();
    Platform.freeMemory(block);
  }
}
