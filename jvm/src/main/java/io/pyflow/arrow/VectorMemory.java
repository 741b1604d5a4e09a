package io.pyflow.arrow;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferManager;
import org.apache.arrow.memory.ForeignAllocation;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.apache.spark.unsafe.Platform;

/**
 * Memory for vectors that is not the JVM's direct memory: that is as large as the heap at most, and
 * Spark takes the error that it is used up for one that an executor cannot survive.
 */
final class VectorMemory extends RootAllocator {
  @Override
  public ArrowBuf buffer(long size) {
    if (size == 0) {
      return getEmpty();
    }
    return wrapForeignAllocation(
        new ForeignAllocation(size, allocate(size)) {
          @Override
          protected void release0() {
            Platform.freeMemory(memoryAddress());
          }
        });
  }

  private static long allocate(long size) {
    try {
      return Platform.allocateMemory(size);
    } catch (OutOfMemoryError e) { // which would end the executor
      throw new OutOfMemoryException(
          "There is no memory for "
              + size
              + " bytes of a column on its way to a Python function. Raise"
              + " spark.executor.memoryOverhead, or lower"
              + " spark.sql.execution.arrow.maxRecordsPerBatch",
          e);
    }
  }

  @Override
  public ArrowBuf buffer(long size, BufferManager manager) {
    return buffer(size);
  }
}
