package io.pyflow.arrow;

import io.pyflow.bridge.PythonStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.spark.sql.util.ArrowUtils;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.Platform;

/** The batches that a task gets from Python; each is valid until the next one. */
public final class ImportedBatches implements AutoCloseable {
  private final BufferAllocator allocator =
      ArrowUtils.rootAllocator().newChildAllocator("batches made by Python", 0, Long.MAX_VALUE);
  private VectorSchemaRoot root;
  private ColumnVector[] vectors;

  /** Memory for the structure that Python fills; {@link #take} or {@link #giveBack} it. */
  public long newArray() {
    long array = Platform.allocateMemory(CDataArray.BYTES);
    Platform.setMemory(array, (byte) 0, CDataArray.BYTES);
    return array;
  }

  /** Gives back a structure that nobody has filled. */
  public void giveBack(long array) {
    Platform.freeMemory(array);
  }

  /** The rows of a structure that Python has filled. */
  public ColumnarBatch take(long array, PythonStream stream) {
    if (root == null) {
      try {
        root = newRoot(stream.schema());
      } catch (RuntimeException e) {
        PythonStream.releaseArray(array);
        giveBack(array);
        throw e;
      }
    }
    ImportedBatch.load(array, root, allocator);
    for (ColumnVector vector : vectors) {
      if (vector instanceof ImportedColumn) {
        ((ImportedColumn) vector).reload();
      }
    }
    ColumnarBatch batch = new ColumnarBatch(vectors);
    batch.setNumRows(root.getRowCount());
    return batch;
  }

  private VectorSchemaRoot newRoot(byte[] schema) {
    try (ReadChannel channel =
        new ReadChannel(Channels.newChannel(new ByteArrayInputStream(schema)))) {
      VectorSchemaRoot created =
          VectorSchemaRoot.create(MessageSerializer.deserializeSchema(channel), allocator);
      vectors = new ColumnVector[created.getFieldVectors().size()];
      for (int i = 0; i < vectors.length; i++) {
        FieldVector vector = created.getVector(i);
        vectors[i] = ImportedColumn.of(vector);
      }
      return created;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    if (root != null) {
      root.close();
    }
    allocator.close();
  }
}
