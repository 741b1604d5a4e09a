package io.pyflow.execution.rows;

import io.pyflow.bridge.InputBundle;
import java.util.concurrent.TimeUnit;

/**
 * How many rows the next bundle takes. Starts with one, so that the first result is there at once,
 * doubles while a bundle takes clearly less than the target, and halves when one takes longer.
 */
public final class BundleSize {
  /**
   * Long enough to make cheap what comes of each bundle: entering Python, and a request of a Kafka
   * producer for the rows that come out. Other tasks get their turn within a bundle, too.
   */
  private static final long TARGET_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

  /** Bytes after which a bundle is full even if it has few rows. */
  private static final long MAX_BYTES = 4 << 20;

  /** The clock is read once in so many rows while a bundle is gathered; a power of two. */
  private static final int ROWS_PER_CLOCK_READ = 16;

  private final int maxRows;
  private final long maxNanos;
  private final long targetNanos;
  private int rows = 1;

  public BundleSize(int maxRows, long maxMillis) {
    this(maxRows, TimeUnit.MILLISECONDS.toNanos(maxMillis), TARGET_NANOS);
  }

  BundleSize(int maxRows, long maxNanos, long targetNanos) {
    this.maxRows = maxRows;
    this.maxNanos = maxNanos;
    this.targetNanos = Math.min(targetNanos, maxNanos);
  }

  public int rows() {
    return rows;
  }

  /** Whether all bundles have one row, so that no clock is needed. */
  boolean isOne() {
    return maxRows == 1;
  }

  /**
   * Whether a bundle has enough bytes, or has taken enough time since it was begun. One without a
   * row has neither, however long the first row takes: it would pass for the end of the input.
   */
  public boolean isFull(InputBundle bundle, long startNanos) {
    int count = bundle.rows();
    return count > 0
        && (bundle.bytes() >= MAX_BYTES
            || (count % ROWS_PER_CLOCK_READ == 0 && System.nanoTime() - startNanos > maxNanos));
  }

  /** Adapts the size to a bundle that took this long to gather and evaluate. */
  public void tookNanos(long nanos) {
    if (nanos > targetNanos) {
      rows = Math.max(1, rows / 2);
    } else if (nanos < targetNanos / 2) {
      rows = Math.min(maxRows, rows * 2);
    }
  }
}
