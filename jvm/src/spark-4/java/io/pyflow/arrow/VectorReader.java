package io.pyflow.arrow;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Reads batches of Spark's own types where Python has them. */
final class VectorReader implements ImportedBatches.BatchReader {
  private final VectorSchemaRoot root;
  private final ColumnVector[] vectors;

  /**
   * @param schema of the batches, as an encapsulated IPC message
   */
  VectorReader(byte[] schema, BufferAllocator allocator) throws IOException {
    try (ReadChannel channel =
        new ReadChannel(Channels.newChannel(new ByteArrayInputStream(schema)))) {
      root = VectorSchemaRoot.create(MessageSerializer.deserializeSchema(channel), allocator);
    }
    vectors = root.getFieldVectors().stream().map(AddressedColumn::of).toArray(ColumnVector[]::new);
  }

  @Override
  public ColumnarBatch read(ImportedBatch imported) {
    imported.load(root);
    for (ColumnVector vector : vectors) {
      if (vector instanceof AddressedColumn) {
        ((AddressedColumn) vector).reload();
      }
    }
    return new ColumnarBatch(vectors, root.getRowCount());
  }

  @Override
  public void close() {
    root.close();
  }
}
