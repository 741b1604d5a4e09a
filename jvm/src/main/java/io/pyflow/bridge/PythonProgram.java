package io.pyflow.bridge;

import java.nio.charset.StandardCharsets;
import org.apache.spark.unsafe.Platform;

/**
 * The Python functions of one operator, loaded for one task. Evaluations come one at a time, from
 * any thread; the results of the last one can be read until the next.
 */
public final class PythonProgram implements LoadedFunctions {
  /** All rows were evaluated. */
  public static final int DONE = 0;

  /** Python raised; see {@link #error()}. */
  public static final int ERROR = 1;

  /**
   * The row after the last one done needs the shared interpreter; {@link #error()} names the
   * import.
   */
  public static final int MOVE_TO_SHARED = 2;

  /** {@link PythonSlot#interrupt()} stopped the evaluation. */
  public static final int INTERRUPTED = 3;

  // The layout of pyflow::Evaluation in native/src/evaluation/program.h.
  private static final int OUTPUT = 0;
  private static final int ROWS_DONE = 8;
  private static final int INPUT_BYTES_DONE = 16;
  private static final int TIMES = 24;
  private static final int CONVERSION_NANOS = TIMES + CallTimes.BYTES;
  private static final int EVALUATION_BYTES = CONVERSION_NANOS + 8;

  private final PythonSlot slot;
  private final long handle;
  private final long evaluation;
  private final CallTimes times;
  private boolean closed;

  PythonProgram(PythonSlot slot, long handle) {
    this.slot = slot;
    this.handle = handle;
    this.evaluation = Platform.allocateMemory(EVALUATION_BYTES);
    Platform.setMemory(evaluation, (byte) 0, EVALUATION_BYTES);
    this.times = new CallTimes(evaluation + TIMES);
  }

  /**
   * Evaluates the functions over rows that lie back to back, each after its size in 8 bytes.
   *
   * @param inputAddress off-heap address of the first row's size
   * @param rowCount how many rows to evaluate
   * @param endsBatch whether they are the last of an Arrow batch
   * @return {@link #DONE}, {@link #ERROR}, {@link #MOVE_TO_SHARED} or {@link #INTERRUPTED}
   */
  public int evaluate(long inputAddress, int rowCount, boolean endsBatch) {
    return NativeBridge.evaluate(handle, inputAddress, rowCount, endsBatch, evaluation);
  }

  /** Off-heap address of the output rows. */
  public long outputAddress() {
    return Platform.getLong(null, evaluation + OUTPUT);
  }

  public int rowsDone() {
    return (int) Platform.getLong(null, evaluation + ROWS_DONE);
  }

  public long inputBytesDone() {
    return Platform.getLong(null, evaluation + INPUT_BYTES_DONE);
  }

  @Override
  public CallTimes times() {
    return times;
  }

  /** Time spent between rows and Python objects, estimated from a sample of the rows. */
  public long conversionNanos() {
    return Platform.getLong(null, evaluation + CONVERSION_NANOS);
  }

  /** The traceback of the last evaluation that ended in {@link #ERROR}, or what it imported. */
  @Override
  public String error() {
    return new String(NativeBridge.error(handle), StandardCharsets.UTF_8);
  }

  @Override
  public byte[][] accumulatorUpdates() {
    return NativeBridge.accumulatorUpdates(handle);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      slot.forget(this);
      NativeBridge.closeProgram(handle);
      Platform.freeMemory(evaluation);
    }
  }
}
