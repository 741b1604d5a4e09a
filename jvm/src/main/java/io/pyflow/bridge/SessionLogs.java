package io.pyflow.bridge;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Where functions log for Spark's {@code python_worker_logs()}, by the numbers that Python knows.
 * Threads that a function leaves running may write after the log is closed: that is lost, as it is
 * when a worker ends.
 */
public final class SessionLogs {
  private static final AtomicLong NUMBERS = new AtomicLong();
  private static final ConcurrentMap<Long, Consumer<String>> OPEN = new ConcurrentHashMap<>();

  private SessionLogs() {}

  /**
   * Opens a log.
   *
   * @param lines gets each record as JSON, from any thread
   * @return its number
   */
  public static long open(Consumer<String> lines) {
    long number = NUMBERS.incrementAndGet();
    OPEN.put(number, lines);
    return number;
  }

  public static void close(long number) {
    OPEN.remove(number);
  }

  static void write(long number, String line) {
    Consumer<String> lines = OPEN.get(number);
    if (lines != null) {
      lines.accept(line);
    }
  }
}
