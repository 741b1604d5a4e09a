package io.pyflow.execution.rows;

import io.pyflow.bridge.InputBundle;
import io.pyflow.execution.task.SingleEntry;
import java.util.NoSuchElementException;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * The loop of the row lane: gathers input rows into a bundle, has it evaluated, and hands out the
 * output rows where Python's side has written them.
 *
 * <p>Whatever happens per row happens here, in plain Java on final fields: a nanosecond per row
 * counts. An output row is valid until the next call of {@code hasNext} or {@code next}, as with
 * Spark's own operators.
 *
 * <p>The iterator may be driven by another thread than the task's, and the task may end while it
 * is: see {@link SingleEntry}.
 */
final class BundleIterator extends AbstractIterator<InternalRow> {
  private final Iterator<InternalRow> input;
  private final BatchEnds batches;
  private final boolean projectAll;
  private final Supplier<UnsafeProjection> newProjection;
  private final BundleEvaluator python;
  private final BundleSize bundleSize;
  private final InputBundle bundle;
  private final UnsafeRow row;
  private UnsafeProjection projection;

  private final SingleEntry entry;

  /** Address of the next output row, and how many of the last evaluation are not yet out. */
  private long next;

  private int remaining;
  private int evaluated;

  /** How much of the input bundle is evaluated; all of it, as a rule. */
  private int inputRowsDone;

  private long inputBytesDone;
  private long bundleStart;
  private boolean endsBatch;

  /**
   * @param batches what the input's rows are counted by
   * @param projectAll whether every input row must be projected; if not, only rows are that are not
   *     {@code UnsafeRow}
   * @param newProjection makes the projection from an input row to what Python gets
   */
  BundleIterator(
      Iterator<InternalRow> input,
      BatchEnds batches,
      boolean projectAll,
      Supplier<UnsafeProjection> newProjection,
      int outputFields,
      BundleEvaluator python,
      BundleSize bundleSize) {
    this.input = input;
    this.batches = batches;
    this.projectAll = projectAll;
    this.newProjection = newProjection;
    this.python = python;
    this.bundle = new InputBundle(python::refused);
    this.bundleSize = bundleSize;
    this.row = new UnsafeRow(outputFields);
    this.entry = new SingleEntry(python::interrupt, this::release);
  }

  @Override
  public boolean hasNext() {
    return remaining > 0 ? !entry.isClosed() : evaluateNextBundle();
  }

  @Override
  public InternalRow next() {
    if (entry.isClosed() || (remaining == 0 && !evaluateNextBundle())) {
      throw new NoSuchElementException("there are no more rows, or the task has ended");
    }
    int size = Platform.getInt(null, next);
    int deferredColumns = Platform.getInt(null, next + Integer.BYTES);
    long start = next + 2 * Integer.BYTES;
    row.pointTo(null, start, size);
    next = start + size;
    remaining--;
    if (deferredColumns == 0) {
      return row;
    }
    long ordinals = next;
    next += ((long) deferredColumns * Integer.BYTES + 7) & ~7L;
    return python.resolveDeferred(row, ordinals, deferredColumns);
  }

  /** Does something before the first row is taken, unless the task has ended. */
  void first(Runnable work) {
    entry.run(work);
  }

  /** Ends the iterator when its task ends. */
  void close() {
    entry.close();
  }

  private boolean evaluateNextBundle() {
    if (!entry.enter()) {
      return false;
    }
    try {
      countRowsOut();
      while (remaining == 0 && !entry.isClosed()) {
        if (inputRowsDone == bundle.rows() && !gather()) {
          if (!entry.isClosed()) {
            python.inputExhausted();
          }
          return false;
        }
        evaluate();
      }
      return !entry.isClosed();
    } finally {
      entry.leave();
    }
  }

  /** Fills the bundle; false if there is no input left. */
  private boolean gather() {
    bundle.clear();
    inputRowsDone = 0;
    inputBytesDone = 0;
    python.throwIfKilled();
    if (!bundleSize.isOne()) {
      bundleStart = System.nanoTime();
    }
    int limit = Math.min(bundleSize.rows(), batches.rowsLeft());
    while (bundle.rows() < limit
        && !bundleSize.isFull(bundle, bundleStart)
        && !entry.isClosed()
        && input.hasNext()) {
      bundle.add(unsafe(input.next()));
    }
    endsBatch = batches.endsAfter(bundle.rows());
    return bundle.rows() > 0 && !entry.isClosed();
  }

  private UnsafeRow unsafe(InternalRow inputRow) {
    if (!projectAll && inputRow instanceof UnsafeRow unsafeRow) {
      return unsafeRow;
    }
    if (projection == null) {
      projection = newProjection.get();
    }
    return projection.apply(inputRow);
  }

  private void evaluate() {
    python.evaluate(bundle.address() + inputBytesDone, bundle.rows() - inputRowsDone, endsBatch);
    if (inputRowsDone == 0 && !bundleSize.isOne()) {
      bundleSize.tookNanos(System.nanoTime() - bundleStart);
    }
    evaluated = python.rowsDone();
    inputRowsDone += evaluated;
    inputBytesDone += python.inputBytesDone();
    next = python.outputAddress();
    remaining = evaluated;
  }

  private void countRowsOut() {
    python.countRowsOut(evaluated - remaining);
    evaluated = remaining;
  }

  private void release() {
    try {
      countRowsOut();
      python.close();
    } finally {
      bundle.free();
    }
  }
}
