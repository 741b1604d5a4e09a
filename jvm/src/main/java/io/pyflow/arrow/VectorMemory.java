package io.pyflow.arrow;

import io.pyflow.bridge.LentMemory;
import java.util.function.Supplier;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferManager;
import org.apache.arrow.memory.ForeignAllocation;
import org.apache.arrow.memory.RootAllocator;
import org.apache.spark.unsafe.Platform;

/**
 * Memory for vectors that is not the JVM's direct memory: that is as large as the heap at most, and
 * Spark takes the error that it is used up for one that an executor cannot survive.
 */
final class VectorMemory extends RootAllocator {
  private final LentMemory memory;
  private final Supplier<String> what;

  /**
   * @param memory that the contents of the vectors are lent in
   * @param what is in the vectors, for errors
   */
  VectorMemory(LentMemory memory, Supplier<String> what) {
    this.memory = memory;
    this.what = what;
  }

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

  private long allocate(long size) {
    try {
      return Platform.allocateMemory(size);
    } catch (OutOfMemoryError e) { // which would end the executor
      throw memory.refused(size, what);
    }
  }

  @Override
  public ArrowBuf buffer(long size, BufferManager manager) {
    return buffer(size);
  }
}
