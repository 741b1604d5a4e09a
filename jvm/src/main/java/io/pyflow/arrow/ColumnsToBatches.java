package io.pyflow.arrow;

import io.pyflow.bridge.LentMemory;
import java.util.Iterator;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Makes batches of columns as Python asks for them, one of each that the operator below has made.
 * Columns are copied, because the operator below fills them again.
 */
public final class ColumnsToBatches implements TaskInput {
  private final LentMemory memory;
  private final ExportedBatches batches;
  private final Iterator<ColumnarBatch> input;
  private final int[] ordinals;
  private int rows;
  private boolean closed;

  /**
   * @param schema of the columns that Python gets
   * @param ordinals where they are in the batches of the input
   * @param memory what is lent
   */
  public ColumnsToBatches(
      Schema schema, Iterator<ColumnarBatch> input, int[] ordinals, LentMemory memory) {
    this.memory = memory;
    this.batches = new ExportedBatches(schema, false, memory, () -> rows + " rows");
    this.input = input;
    this.ordinals = ordinals;
  }

  @Override
  public synchronized long next(long arrayAddress) {
    if (closed) {
      throw new IllegalStateException("the task has ended");
    }
    if (!input.hasNext()) {
      return END;
    }
    ColumnarBatch from = input.next();
    ColumnVector[] columns = new ColumnVector[ordinals.length];
    for (int i = 0; i < ordinals.length; i++) {
      columns[i] = from.column(ordinals[i]);
    }
    rows = from.numRows();
    batches.begin().write(columns, rows);
    batches.lend(arrayAddress);
    return rows;
  }

  @Override
  public long peakLentBytes() {
    return memory.peakBytes();
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      try {
        batches.close();
      } finally {
        memory.close();
      }
    }
  }
}
