package io.pyflow.arrow;

import io.pyflow.bridge.LentMemory;
import java.util.Iterator;
import java.util.List;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;

/**
 * Makes batches of rows as Python asks for them. The rows come in parts: one for functions that
 * take a stream, one per group, or several per group where groups of several inputs go together.
 */
public final class RowsToBatches implements TaskInput {
  /** Rows that go to Python together, and which of the schemas they have. */
  public interface Parts {
    /** The rows of the next part; null after the last. */
    Iterator<InternalRow> next();

    /** The schema of the rows that {@link #next} returned. */
    int schema();

    /** The key of the group that these rows belong to, for errors; empty where there is none. */
    String key();
  }

  private final List<StructType> schemas;
  private final Parts parts;
  private final boolean inStruct;
  private final boolean grouped;
  private final int maxRows;
  private final long maxBytes;
  private final LentMemory memory;
  private final ExportedBatches[] batches;
  private final UnsafeProjection[] projections;
  private Iterator<InternalRow> rows;
  private long partsBegun;
  private long rowsOfPart;
  private boolean atEnd;
  private boolean closed;

  /**
   * @param schemas of the rows
   * @param arrowSchemas the same for Arrow
   * @param inStruct whether Python gets the columns as the fields of its only column
   * @param grouped whether parts are told apart
   * @param maxRows of a batch; 0 or less: as many as there are
   * @param maxBytes of a batch, about
   * @param memory what is lent
   */
  public RowsToBatches(
      List<StructType> schemas,
      List<Schema> arrowSchemas,
      Parts parts,
      boolean inStruct,
      boolean grouped,
      int maxRows,
      long maxBytes,
      LentMemory memory) {
    this.schemas = schemas;
    this.parts = parts;
    this.inStruct = inStruct;
    this.grouped = grouped;
    this.maxRows = maxRows > 0 ? maxRows : Integer.MAX_VALUE;
    this.maxBytes = maxBytes;
    this.memory = memory;
    this.batches =
        arrowSchemas.stream()
            .map(schema -> new ExportedBatches(schema, inStruct, memory, this::whereabouts))
            .toArray(ExportedBatches[]::new);
    this.projections = new UnsafeProjection[batches.length];
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
        partsBegun++;
        rowsOfPart = 0;
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
    int schema = parts.schema();
    BatchWriter batch = batches[schema].begin();
    long before = rowsOfPart;
    while (rowsOfPart - before < maxRows
        && (maxBytes == Integer.MAX_VALUE || !batch.reaches(maxBytes, inStruct ? 1 : 0))
        && rows.hasNext()) {
      UnsafeRow row = unsafe(rows.next(), schema);
      rowsOfPart++;
      batch.write(row);
    }
    batches[schema].lend(arrayAddress);
    return rowsOfPart - before;
  }

  private String whereabouts() {
    if (!grouped) {
      return String.format("up to row %d of the partition", rowsOfPart);
    }
    long group = (partsBegun + batches.length - 1) / batches.length;
    String key = parts.key();
    return String.format(
        "up to row %d of the group%s, number %d of the partition",
        rowsOfPart, key.isEmpty() ? "" : " " + key, group);
  }

  private UnsafeRow unsafe(InternalRow row, int schema) {
    if (row instanceof UnsafeRow) {
      return (UnsafeRow) row;
    }
    if (projections[schema] == null) {
      projections[schema] = UnsafeProjection.create(schemas.get(schema));
    }
    return projections[schema].apply(row);
  }

  @Override
  public long peakLentBytes() {
    return memory.peakBytes();
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      for (ExportedBatches each : batches) {
        each.close();
      }
      memory.close();
    }
  }
}
