package io.pyflow.bridge;

import org.apache.spark.unsafe.Platform;

/**
 * The time of the last call into Python by its use, in nanoseconds; a view of memory that native
 * code writes.
 */
public final class CallTimes {
  // The layout of pyflow::CallTimes in native/src/evaluation/functions.h.
  private static final int GIL_WAIT = 0;
  private static final int PYTHON = 8;
  private static final int SAMPLED = 16;
  private static final int CPU = 24;
  private static final int OTHERS_CPU = 32;
  static final int BYTES = 40;

  private final long address;

  CallTimes(long address) {
    this.address = address;
  }

  /** Taking the GIL; not where CPython passes it from thread to thread by itself. */
  public long gilWaitNanos() {
    return Platform.getLong(null, address + GIL_WAIT);
  }

  /** Otherwise, conversion included, but not what the JVM did for Python meanwhile. */
  public long pythonNanos() {
    return Platform.getLong(null, address + PYTHON);
  }

  /**
   * If the call is one of the sample whose processor time is measured, {@link #pythonNanos} of all
   * calls since the last such one, itself included; otherwise 0. All calls are that take long;
   * where they are short, one of many is.
   */
  public long sampledNanos() {
    return Platform.getLong(null, address + SAMPLED);
  }

  /**
   * Processor time of the calls' thread, of the time that was sampled. What the JVM has spent
   * between short calls may be in it.
   */
  public long cpuNanos() {
    return Platform.getLong(null, address + CPU);
  }

  /**
   * Processor time of other threads in the same interpreter meanwhile; 0 where no GIL keeps them
   * from running beside this one.
   */
  public long othersCpuNanos() {
    return Platform.getLong(null, address + OTHERS_CPU);
  }
}
