package io.pyflow.execution.rows;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.NoSuchElementException;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.junit.Test;
import scala.jdk.javaapi.CollectionConverters;

public class BatchEndsTest {
  @Test
  public void batchesOfEqualSize() {
    BatchEnds batches = BatchEnds.every(1000);
    assertFalse(batches.endsAfter(900));
    assertEquals(100, batches.rowsLeft());
    assertTrue(batches.endsAfter(100));
    assertEquals(1000, batches.rowsLeft());
  }

  @Test
  public void batchesOfTheInput() {
    RowsOfBatches rows = rowsOf(2, 0, 3, 0);
    for (int size : new int[] {2, 3}) {
      assertEquals(size, rows.rowsLeft());
      for (int left = size - 1; left >= 0; left--) {
        rows.next();
        assertEquals(left == 0, rows.endsAfter(1));
      }
    }
    assertEquals(0, rows.rowsLeft());
    assertFalse(rows.hasNext());
    assertThrows(NoSuchElementException.class, rows::next);
  }

  private static RowsOfBatches rowsOf(int... sizes) {
    return new RowsOfBatches(
        CollectionConverters.asScala(
            Arrays.stream(sizes)
                .mapToObj(size -> new ColumnarBatch(new ColumnVector[0], size))
                .iterator()));
  }
}
