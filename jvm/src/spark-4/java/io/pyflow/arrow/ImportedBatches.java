package io.pyflow.arrow;

import io.pyflow.bridge.PythonBatches;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.spark.sql.util.ArrowUtils;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.Platform;

/** The batches that a task gets from Python; each is valid until the next one. */
public final class ImportedBatches implements AutoCloseable {
  private final BufferAllocator allocator =
      ArrowUtils.rootAllocator().newChildAllocator("batches made by Python", 0, Long.MAX_VALUE);
  private BatchReader reader;

  /** Memory for the structure that Python fills; {@link #take} or {@link #giveBack} it. */
  public long newArray() {
    long array = Platform.allocateMemory(CDataArray.BYTES);
    Platform.setMemory(array, (byte) 0, CDataArray.BYTES);
    return array;
  }

  /** Frees a structure that has not been filled. */
  public void giveBack(long array) {
    Platform.freeMemory(array);
  }

  /** The rows of a structure that Python has filled. */
  public ColumnarBatch take(long array, PythonBatches batches) {
    ImportedBatch batch = new ImportedBatch(array, allocator);
    try {
      if (reader == null) {
        byte[] schema = batches.schema();
        reader =
            schema.length == 0 ? new StreamReader(allocator) : new VectorReader(schema, allocator);
      }
      return reader.read(batch);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      batch.close();
    }
  }

  @Override
  public void close() {
    try {
      if (reader != null) {
        reader.close();
      }
    } finally {
      allocator.close();
    }
  }

  /** Reads the batches of one task. */
  interface BatchReader extends AutoCloseable {
    /** The rows of a batch, valid until the next one. */
    ColumnarBatch read(ImportedBatch batch) throws IOException;

    @Override
    void close();
  }
}
