package io.pyflow.arrow;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.util.ArrowUtils;

/** The batches of one schema that a task lends to Python. */
final class ExportedBatches implements AutoCloseable {
  private final LentPool<ExportedBatch> pool;

  /**
   * @param schema of the columns
   * @param inStruct whether Python gets them as the fields of its only column
   */
  ExportedBatches(Schema schema, boolean inStruct) {
    BufferAllocator allocator =
        ArrowUtils.rootAllocator().newChildAllocator("batches lent to Python", 0, Long.MAX_VALUE);
    pool = new LentPool<>(() -> new ExportedBatch(schema, inStruct, allocator), allocator::close);
  }

  /** A batch that is free to be filled. */
  ExportedBatch next() {
    ExportedBatch batch = pool.next();
    batch.writer.reset();
    return batch;
  }

  @Override
  public void close() {
    pool.close();
  }
}
