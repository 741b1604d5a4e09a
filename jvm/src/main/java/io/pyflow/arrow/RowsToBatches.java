package io.pyflow.arrow;

import io.pyflow.bridge.BatchSource;
import java.util.Iterator;
import java.util.List;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Makes batches of rows as Python asks for them. The rows come in parts: one for functions that
 * take a stream, one per group, or several per group where groups of several inputs go together.
 */
public final class RowsToBatches implements BatchSource, AutoCloseable {
  /** Rows that go to Python together, and which of the schemas they have. */
  public interface Parts {
    /** The rows of the next part; null after the last. */
    Iterator<InternalRow> next();

    /** The schema of the rows that {@link #next} returned. */
    int schema();
  }

  private final Parts parts;
  private final boolean grouped;
  private final int maxRows;
  private final long maxBytes;
  private final ExportedBatches[] batches;
  private Iterator<InternalRow> rows;
  private boolean atEnd;
  private boolean closed;

  /**
   * @param grouped whether parts are told apart
   * @param maxRows of a batch; 0 or less: as many as there are
   * @param maxBytes of a batch, about
   */
  public RowsToBatches(
      List<Schema> schemas, Parts parts, boolean grouped, int maxRows, long maxBytes) {
    this.parts = parts;
    this.grouped = grouped;
    this.maxRows = maxRows > 0 ? maxRows : Integer.MAX_VALUE;
    this.maxBytes = maxBytes;
    this.batches = schemas.stream().map(ExportedBatches::new).toArray(ExportedBatches[]::new);
  }

  @Override
  public synchronized long next(long arrayAddress) {
    if (closed) {
      throw new IllegalStateException("the task has ended");
    }
    while (!atEnd) {
      if (rows == null) {
        rows = parts.next();
        atEnd = rows == null;
        // A function of several groups gets an empty table where one of them has no rows.
        if (grouped && !atEnd && !rows.hasNext()) {
          return fill(arrayAddress);
        }
      } else if (rows.hasNext()) {
        return fill(arrayAddress);
      } else {
        rows = null;
        if (grouped) {
          return END_OF_GROUP;
        }
      }
    }
    return END;
  }

  private long fill(long arrayAddress) {
    ExportedBatch batch = batches[parts.schema()].next();
    int count = 0;
    while (count < maxRows
        && (maxBytes == Integer.MAX_VALUE || batch.writer.sizeInBytes() < maxBytes)
        && rows.hasNext()) {
      batch.writer.write(rows.next());
      count++;
    }
    batch.writer.finish();
    batch.export(arrayAddress);
    return count;
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      for (ExportedBatches each : batches) {
        each.close();
      }
    }
  }
}
