package io.pyflow.execution.rows;

import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** The rows of a columnar child, whose batches process mode sends as they are. */
final class RowsOfBatches extends AbstractIterator<InternalRow> implements BatchEnds {
  private final Iterator<ColumnarBatch> batches;
  private java.util.Iterator<InternalRow> rows;
  private int left;

  RowsOfBatches(Iterator<ColumnarBatch> batches) {
    this.batches = batches;
  }

  @Override
  public boolean hasNext() {
    while (left == 0 && batches.hasNext()) {
      ColumnarBatch batch = batches.next();
      rows = batch.rowIterator();
      left = batch.numRows();
    }
    return left > 0;
  }

  @Override
  public InternalRow next() {
    if (!hasNext()) {
      throw new NoSuchElementException("there are no more rows");
    }
    left--;
    return rows.next();
  }

  @Override
  public int rowsLeft() {
    return hasNext() ? left : 0;
  }

  @Override
  public boolean endsAfter(int count) {
    return left == 0;
  }
}
