package io.pyflow.bridge;

import java.util.function.Supplier;

/**
 * The memory that a task lends to Python: a block for each batch, which Python frees as soon as it
 * has released all arrays in it, also after the task. None of it is the JVM's direct memory, which
 * the heap limits, since a function may keep as much as it likes.
 */
public final class LentMemory implements AutoCloseable {
  /** What precedes all else in a block, as native/src/evaluation/arrow_c_data.h has it. */
  public static final int HEADER_BYTES = 64;

  /** Below this, the container is not asked for the memory that it has left. */
  private static final long UNCHECKED_BYTES = 64L << 20;

  private static final long CHECKED_EVERY_BYTES = 16L << 20;

  /** What Python needs to work on what it gets, at least. */
  private static final long HEADROOM_BYTES = 32L << 20;

  private final String functions;

  /** 0 until something is lent, before which Python may not have been started. */
  private long lender;

  private long unchecked;

  /**
   * @param functions who borrows, for errors
   */
  public LentMemory(String functions) {
    this.functions = functions;
  }

  /**
   * Memory for a batch.
   *
   * @param bytes with the header
   * @param arrays that Python will release
   * @param what is in it, for errors
   * @return the address of the header, which is the private data of every array
   * @throws LentMemoryException if there is no more
   */
  public synchronized long allocate(long bytes, int arrays, Supplier<String> what) {
    if (lender == 0) {
      lender = NativeBridge.newLender();
    }
    checkContainer(bytes, what);
    long block = NativeBridge.lend(lender, bytes, arrays);
    if (block == 0) {
      throw refused(bytes, what);
    }
    return block;
  }

  /**
   * The error for memory that the system refuses.
   *
   * @param what would be in it
   */
  public synchronized LentMemoryException refused(long bytes, Supplier<String> what) {
    return exhausted(bytes, what, "the system refuses it");
  }

  private void checkContainer(long bytes, Supplier<String> what) {
    unchecked += bytes;
    if (unchecked < CHECKED_EVERY_BYTES || NativeBridge.lentBytes(0) < UNCHECKED_BYTES) {
      return;
    }
    unchecked = 0;
    long left = ContainerMemory.availableBytes();
    if (left < bytes + HEADROOM_BYTES) {
      throw exhausted(bytes, what, "its container has " + mebibytes(left) + " left");
    }
  }

  private LentMemoryException exhausted(long bytes, Supplier<String> what, String why) {
    return new LentMemoryException(
        String.format(
            "The executor has no memory for %s of input of the Python function %s (%s): %s. The"
                + " function keeps %s that it got before, all functions of this executor keep %s."
                + " Raise spark.executor.memoryOverhead, have fewer tasks at once"
                + " (spark.executor.cores, spark.task.cpus), make batches"
                + " (spark.sql.execution.arrow.maxRecordsPerBatch) or groups smaller, or let the"
                + " function keep less.",
            mebibytes(bytes),
            functions,
            what.get(),
            why,
            mebibytes(lender == 0 ? 0 : NativeBridge.lentBytes(lender)),
            mebibytes(NativeBridge.lentBytes(0))));
  }

  static String mebibytes(long bytes) {
    return String.format("%.1f MiB", Math.max(bytes, 0) / (double) (1 << 20));
  }

  /** The most that Python has held of this at one time. */
  public synchronized long peakBytes() {
    return lender == 0 ? 0 : NativeBridge.peakLentBytes(lender);
  }

  /** The memory that Python holds now, of all tasks. */
  public static long bytesOfAllTasks() {
    return PythonRuntime.isStarted() ? NativeBridge.lentBytes(0) : 0;
  }

  /** Nothing more can be lent; blocks that Python holds stay until it releases them. */
  @Override
  public synchronized void close() {
    if (lender != 0) {
      NativeBridge.closeLender(lender);
      lender = 0;
    }
  }
}
