import java.util.Locale;
import java.util.function.LongConsumer;

/** Times calls and prints what they took, the same way for every bridge. */
final class Calls {
  private static final long ROUND_NANOS = 500_000_000L;
  private static final String TEXT = "Thread Mode And Process Mode ";

  private Calls() {}

  /** The argument of a text case: {@code length} characters that start with the row number. */
  static String text(String caseName, int length, int row) {
    boolean json = caseName.startsWith("json");
    int size = json ? length - "{\"a\": \"\"}".length() : length;
    StringBuilder text = new StringBuilder(size).append(row).append(' ');
    while (text.length() < size) {
      text.append(TEXT);
    }
    text.setLength(size);
    return json ? "{\"a\": \"" + text + "\"}" : text.toString();
  }

  /**
   * Calls a function for about a second to warm up, then for about half a second, and prints the
   * nanoseconds per call as one JSON object.
   *
   * @param perStep how many calls of the Python function one step makes
   */
  static void measure(String caseName, String interpreter, int perStep, LongConsumer step) {
    nanosPerStep(2 * ROUND_NANOS, step);
    System.out.printf(
        Locale.ROOT,
        "{\"case\": \"%s\", \"interpreter\": \"%s\", \"bundle\": %d, \"ns\": %.2f}%n",
        caseName,
        interpreter,
        perStep,
        nanosPerStep(ROUND_NANOS, step) / perStep);
  }

  private static double nanosPerStep(long nanos, LongConsumer step) {
    long steps = 0;
    long start = System.nanoTime();
    long elapsed = 0;
    while (elapsed < nanos) {
      // The clock is read once in 64 steps: reading it costs as much as a small call.
      for (int i = 0; i < 64; i++) {
        step.accept(steps++);
      }
      elapsed = System.nanoTime() - start;
    }
    return elapsed / (double) steps;
  }
}
