package io.pyflow.execution.rows;

import io.pyflow.bridge.LentMemoryException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Evaluates the bundles of a {@link BundleIterator}. One thread at a time calls it, except for
 * {@link #interrupt}.
 */
interface BundleEvaluator {
  /** Ends the task here if it has been killed. */
  void throwIfKilled();

  /**
   * Evaluates rows that lie in memory as {@code InputBundle} writes them: all of them or the first
   * ones.
   *
   * @param endsBatch whether they are the last of an Arrow batch
   */
  void evaluate(long address, int rows, boolean endsBatch);

  int rowsDone();

  long inputBytesDone();

  /**
   * Where the output of the last evaluation lies: for each row its size and the number of deferred
   * columns as 32-bit integers, the row, and the ordinals of the deferred columns, padded to 8
   * bytes. Valid until the next evaluation.
   */
  long outputAddress();

  /** The row with its deferred columns in place; their ordinals lie at the address. */
  InternalRow resolveDeferred(UnsafeRow row, long ordinals, int count);

  /** The error for so many bytes of input that the system refuses. */
  LentMemoryException refused(long bytes);

  void countRowsOut(int rows);

  /** All input is evaluated; may be called again. */
  void inputExhausted();

  /** Stops Python code that runs now; from any thread, returns at once. */
  void interrupt();

  void close();
}
