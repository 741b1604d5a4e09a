package io.pyflow.arrow;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.spark.sql.util.ArrowUtils;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Reads batches of other types than Spark's, which come as the bytes of an IPC stream, the way
 * Spark reads a worker's. So it reads and refuses the same batches.
 */
final class StreamReader implements ImportedBatches.BatchReader {
  private final Bytes bytes = new Bytes();
  private final ArrowStreamReader reader;
  private ColumnVector[] vectors;

  StreamReader(BufferAllocator allocator) {
    reader = new ArrowStreamReader(bytes, allocator);
  }

  @Override
  public ColumnarBatch read(ImportedBatch batch) throws IOException {
    bytes.current = batch.values();
    bytes.position = 0;
    VectorSchemaRoot root = reader.getVectorSchemaRoot();
    if (vectors == null) {
      ArrowUtils.fromArrowSchema(root.getSchema());
      vectors =
          root.getFieldVectors().stream().map(ArrowColumnVector::new).toArray(ColumnVector[]::new);
    }
    if (!reader.loadNextBatch()) {
      throw new EOFException("Python's bytes hold no batch");
    }
    return new ColumnarBatch(vectors, root.getRowCount());
  }

  @Override
  public void close() {
    try {
      reader.close(false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What Python has added to the stream with the current batch. */
  private static final class Bytes extends InputStream {
    private ArrowBuf current;
    private long position;

    @Override
    public int read() {
      return position < current.capacity() ? current.getByte(position++) & 0xFF : -1;
    }

    @Override
    public int read(byte[] to, int offset, int length) {
      if (position == current.capacity()) {
        return -1;
      }
      int count = (int) Math.min(length, current.capacity() - position);
      current.getBytes(position, to, offset, count);
      position += count;
      return count;
    }
  }
}
