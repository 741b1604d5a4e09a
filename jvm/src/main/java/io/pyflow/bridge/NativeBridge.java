package io.pyflow.bridge;

import java.nio.charset.StandardCharsets;

/**
 * The native methods of libpyflow-cp3xx, as native/src/jni.cc implements them. Handles are
 * addresses of native objects; nothing here checks them, so only {@link PythonRuntime}, {@link
 * PythonSlot} and {@link PythonProgram} call these.
 */
final class NativeBridge {
  private NativeBridge() {}

  static native void start(byte[][] options);

  /** What of the running CPython forbids them, as text; empty if it has them. */
  static native byte[] whyNoIsolatedInterpreters();

  static native void prewarm(int isolatedInterpreters);

  static native long memoryBytes();

  static native int isolatedInterpreters();

  static native byte[] loadedModules();

  static native void trimMemory();

  static native void endApplication(byte[] identifier);

  static native void takeGil();

  static native long acquireSlot(boolean isolated, byte[] modulesOf, byte[] owner, int kept);

  /**
   * What the texts of owners begin with, in lines; 0 if no interpreter is kept for such an owner.
   */
  static native long acquireSlotForLastTime(byte[] owners);

  static native void releaseSlot(long slot);

  static native void interrupt(long slot);

  /** The address of the thread state whose Python code runs in the slot; 0 if none does. */
  static native long runningThread(long slot);

  /** What native/src/runtime/stacks.h tells, as JSON. */
  static native byte[] pythonThreads();

  /** Request and answer are JSON, as pyflow.thread_mode.debugger has it. */
  static native byte[] askDebugger(byte[] request);

  static native long newProfile();

  static native void sample(long profile, long[] threads, int[] numbers);

  /** What native/src/runtime/profile.h tells, as JSON. */
  static native byte[] profileJson(long profile);

  static native void closeProfile(long profile);

  /** The function is null for functions that do not call the JVM. */
  static native long load(long slot, byte[] specification, JvmFunction function);

  static native void closeProgram(long program);

  static native int evaluate(
      long program, long input, int rowCount, boolean endsBatch, long evaluation);

  static native byte[] error(long program);

  static native byte[][] accumulatorUpdates(long program);

  /** The function is null for functions that do not call the JVM. */
  static native long loadBatches(
      long slot, byte[] specification, BatchSource source, JvmFunction function);

  static native void closeBatches(long batches);

  static native int nextBatch(long batches, long array, long step);

  static native byte[] batchesSchema(long batches);

  static native byte[] batchesError(long batches);

  static native byte[][] batchesAccumulatorUpdates(long batches);

  static native long releaseCallback();

  static native void releaseArray(long array);

  static native long newLender();

  static native void closeLender(long lender);

  static native long lend(long lender, long bytes, long arrays);

  /** Of all lenders, if none (0) is given. */
  static native long lentBytes(long lender);

  static native long peakLentBytes(long lender);

  /** Called by native code, from any thread. */
  static void log(int level, byte[] line) {
    PythonLog.write(level, new String(line, StandardCharsets.UTF_8));
  }

  /** Called by native code, from any thread. */
  static byte[] messageOf(Throwable exception) {
    String message = exception.getMessage();
    String shown = message == null ? exception.toString() : message;
    return shown.getBytes(StandardCharsets.UTF_8);
  }

  /** Called by native code, from any thread. */
  static void sessionLog(long number, byte[] line) {
    SessionLogs.write(number, new String(line, StandardCharsets.UTF_8));
  }
}
