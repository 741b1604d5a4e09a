import java.util.Locale;
import java.util.function.LongConsumer;

/** Times calls and prints what they took, the same way for every bridge. */
final class Calls {
  private static final long MEASURED_NANOS = 500_000_000L;

  /** About a millisecond of small calls: less than a time slice, much more than a clock's tick. */
  private static final int CALLS_PER_ROUND = 2048;

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
   * nanoseconds per call as one JSON object: those of the fastest of many short rounds, so that
   * other programs on the machine do not count.
   *
   * @param perStep how many calls of the Python function one step makes
   */
  static void measure(String caseName, String interpreter, int perStep, LongConsumer step) {
    fastestNanosPerStep(2 * MEASURED_NANOS, perStep, step);
    System.out.printf(
        Locale.ROOT,
        "{\"case\": \"%s\", \"interpreter\": \"%s\", \"bundle\": %d, \"ns\": %.2f}%n",
        caseName,
        interpreter,
        perStep,
        fastestNanosPerStep(MEASURED_NANOS, perStep, step) / perStep);
  }

  private static double fastestNanosPerStep(long nanos, int perStep, LongConsumer step) {
    int stepsPerRound = Math.max(1, CALLS_PER_ROUND / perStep);
    long number = 0;
    long fastest = Long.MAX_VALUE;
    long end = System.nanoTime() + nanos;
    long before;
    while ((before = System.nanoTime()) < end) {
      for (int i = 0; i < stepsPerRound; i++) {
        step.accept(number++);
      }
      fastest = Math.min(fastest, System.nanoTime() - before);
    }
    return fastest / (double) stepsPerRound;
  }
}
