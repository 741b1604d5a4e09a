package io.pyflow.bridge;

import java.nio.charset.StandardCharsets;
import org.apache.spark.unsafe.Platform;

/**
 * The Python functions of one operator over Arrow batches, loaded for one task. Python pulls its
 * input from a {@link BatchSource}; calls come one at a time, from any thread.
 */
public final class PythonBatches implements LoadedFunctions {
  // The layout of pyflow::Step in native/src/evaluation/batches.h.
  private static final int ROWS = 0;
  private static final int TIMES = 8;
  private static final int STEP_BYTES = TIMES + CallTimes.BYTES;

  private final PythonSlot slot;
  private final long handle;
  private final long step;
  private final CallTimes times;
  private boolean closed;

  PythonBatches(PythonSlot slot, long handle) {
    this.slot = slot;
    this.handle = handle;
    this.step = Platform.allocateMemory(STEP_BYTES);
    Platform.setMemory(step, (byte) 0, STEP_BYTES);
    this.times = new CallTimes(step + TIMES);
  }

  /**
   * Has the functions make the next batch. Throws the exceptions of the source.
   *
   * @param arrayAddress off-heap address of an ArrowArray, which is filled unless this was the end;
   *     give it back with {@link #releaseArray}
   * @return {@link PythonProgram#DONE}, {@link PythonProgram#ERROR} or {@link
   *     PythonProgram#INTERRUPTED}
   */
  public int next(long arrayAddress) {
    return NativeBridge.nextBatch(handle, arrayAddress, step);
  }

  /** Rows of the last batch, or {@link BatchSource#END} after it. */
  public long rows() {
    return Platform.getLong(null, step + ROWS);
  }

  @Override
  public CallTimes times() {
    return times;
  }

  /** The Arrow schema of the output as an encapsulated IPC message, after the first batch. */
  public byte[] schema() {
    return NativeBridge.batchesSchema(handle);
  }

  @Override
  public String error() {
    return new String(NativeBridge.batchesError(handle), StandardCharsets.UTF_8);
  }

  @Override
  public byte[][] accumulatorUpdates() {
    return NativeBridge.batchesAccumulatorUpdates(handle);
  }

  /** The address of the release callback for arrays in a block of {@link LentMemory}. */
  public static long releaseCallback() {
    return NativeBridge.releaseCallback();
  }

  /** Gives back the buffers of an array that {@link #next} filled. */
  public static void releaseArray(long arrayAddress) {
    NativeBridge.releaseArray(arrayAddress);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      slot.forget(this);
      NativeBridge.closeBatches(handle);
      Platform.freeMemory(step);
    }
  }
}
