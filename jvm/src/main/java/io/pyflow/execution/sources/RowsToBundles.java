package io.pyflow.execution.sources;

import io.pyflow.arrow.ExportedRows;
import io.pyflow.arrow.TaskInput;
import io.pyflow.bridge.InputBundle;
import io.pyflow.bridge.LentMemory;
import io.pyflow.execution.rows.BundleSize;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;

/** Makes bundles of rows as Python asks for them, for functions that take an iterator of rows. */
final class RowsToBundles implements TaskInput {
  private final StructType schema;
  private final Iterator<InternalRow> input;
  private final BundleSize bundleSize;
  private final LentMemory memory;
  private final ExportedRows lent;
  private UnsafeProjection projection;
  private long start;
  private boolean started;
  private boolean closed;

  RowsToBundles(
      StructType schema, Iterator<InternalRow> input, BundleSize bundleSize, LentMemory memory) {
    this.memory = memory;
    this.lent = new ExportedRows(memory);
    this.schema = schema;
    this.input = input;
    this.bundleSize = bundleSize;
  }

  @Override
  public synchronized long next(long arrayAddress) {
    if (closed) {
      throw new IllegalStateException("the task has ended");
    }
    long now = System.nanoTime();
    if (started) {
      bundleSize.tookNanos(now - start);
    }
    start = now;
    started = true;
    InputBundle bundle = lent.rows();
    bundle.clear();
    int limit = bundleSize.rows();
    while (bundle.rows() < limit && !bundleSize.isFull(bundle, start) && input.hasNext()) {
      bundle.add(unsafe(input.next()));
    }
    if (bundle.rows() == 0) {
      return END;
    }
    lent.export(arrayAddress);
    return bundle.rows();
  }

  private UnsafeRow unsafe(InternalRow row) {
    if (row instanceof UnsafeRow unsafeRow) {
      return unsafeRow;
    }
    if (projection == null) {
      projection = UnsafeProjection.create(schema);
    }
    return projection.apply(row);
  }

  @Override
  public long peakLentBytes() {
    return memory.peakBytes();
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      lent.close();
      memory.close();
    }
  }
}
