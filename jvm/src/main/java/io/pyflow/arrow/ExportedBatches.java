package io.pyflow.arrow;

import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.util.ArrowUtils;

/**
 * The batches of one schema that a task lends to Python. A batch is filled again as soon as Python
 * has released it, which it does when the next one comes, as a rule; a function that keeps batches
 * makes more of them exist.
 */
final class ExportedBatches implements AutoCloseable {
  /** What functions still held when their task ended. */
  private static final List<ExportedBatches> KEPT = new ArrayList<>();

  private final Schema schema;
  private final boolean inStruct;
  private final BufferAllocator allocator;
  private final List<ExportedBatch> batches = new ArrayList<>();

  /**
   * @param schema of the columns
   * @param inStruct whether Python gets them as the fields of its only column
   */
  ExportedBatches(Schema schema, boolean inStruct) {
    this.schema = schema;
    this.inStruct = inStruct;
    this.allocator =
        ArrowUtils.rootAllocator().newChildAllocator("batches lent to Python", 0, Long.MAX_VALUE);
  }

  /** A batch that is free to be filled. */
  ExportedBatch next() {
    for (ExportedBatch batch : batches) {
      if (batch.isReleased()) {
        batch.writer.reset();
        return batch;
      }
    }
    ExportedBatch batch = new ExportedBatch(schema, inStruct, allocator);
    batches.add(batch);
    return batch;
  }

  /** Frees what Python has released; what it still holds is freed after the end of a later task. */
  @Override
  public void close() {
    synchronized (KEPT) {
      KEPT.add(this);
      KEPT.removeIf(ExportedBatches::free);
    }
  }

  /** How many tasks have ended of which functions still hold batches. */
  static int kept() {
    synchronized (KEPT) {
      KEPT.removeIf(ExportedBatches::free);
      return KEPT.size();
    }
  }

  private boolean free() {
    batches.removeIf(
        batch -> {
          boolean released = batch.isReleased();
          if (released) {
            batch.close();
          }
          return released;
        });
    if (batches.isEmpty()) {
      allocator.close();
    }
    return batches.isEmpty();
  }
}
