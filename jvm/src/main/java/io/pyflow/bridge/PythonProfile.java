package io.pyflow.bridge;

import java.nio.charset.StandardCharsets;

/**
 * Where the Python code of this JVM spends its time. Used by one thread; Python has been started.
 */
public final class PythonProfile implements AutoCloseable {
  private final long handle = NativeBridge.newProfile();

  /**
   * Counts what the calls of tasks do now, and the other threads that hold their GIL. Takes no GIL.
   *
   * @param threads the address of the thread state of each call; 0 as long as it waits for its GIL
   * @param numbers the number of each call; equal calls have the same
   */
  public void sample(long[] threads, int[] numbers) {
    NativeBridge.sample(handle, threads, numbers);
  }

  /**
   * What has been counted, as JSON: {@code functions}, an array of objects with {@code name},
   * {@code file} and {@code line}, the first of the function; and {@code stacks}, an array of
   * objects with the number of the {@code call}, -1 for threads that functions have started, {@code
   * state}, {@code samples}, {@code with_gil}, and {@code functions}, which are indexes, the
   * innermost first. States are {@code python}, {@code no frames} between calls of Python code,
   * {@code waits for the GIL}, {@code unreadable} where the thread went on too quickly, and {@code
   * not kept} where there were too many stacks.
   */
  public String toJson() {
    return new String(NativeBridge.profileJson(handle), StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    NativeBridge.closeProfile(handle);
  }
}
