package io.pyflow.execution.rows;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.pyflow.bridge.LentMemoryException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.Platform;
import org.junit.Test;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

public class BundleIteratorTest {
  /** Rows of one long that counts from 0; tells how many have been pulled. */
  private static final class Numbers extends AbstractIterator<InternalRow> {
    private final UnsafeRowWriter writer;
    private final int count;
    private int pulled;

    Numbers(int count, int rowBytes) {
      this.writer = new UnsafeRowWriter(rowBytes / Long.BYTES - 1);
      this.count = count;
    }

    @Override
    public boolean hasNext() {
      return pulled < count;
    }

    @Override
    public InternalRow next() {
      writer.reset();
      writer.zeroOutNullBytes();
      writer.write(0, (long) pulled++);
      return writer.getRow();
    }
  }

  /** Stands in for Python: every output row is the input row. */
  private static class Identity implements BundleEvaluator {
    final List<Integer> bundles = new ArrayList<>();
    final List<Boolean> batchEnds = new ArrayList<>();
    int atMost = Integer.MAX_VALUE;
    int exhausted;
    int rowsOut;
    volatile int interrupted;
    volatile int closed;
    volatile Thread closedBy;
    private long output;
    private long inputBytesDone;
    private int rowsDone;

    @Override
    public void throwIfKilled() {}

    @Override
    public void evaluate(long address, int rows, boolean endsBatch) {
      bundles.add(rows);
      batchEnds.add(endsBatch);
      rowsDone = Math.min(rows, atMost);
      inputBytesDone = 0;
      for (int i = 0; i < rowsDone; i++) {
        inputBytesDone += Long.BYTES + Platform.getLong(null, address + inputBytesDone);
      }
      Platform.freeMemory(output);
      output = Platform.allocateMemory(inputBytesDone);
      Platform.copyMemory(null, address, null, output, inputBytesDone);
    }

    @Override
    public LentMemoryException refused(long bytes) {
      throw new AssertionError("no memory for " + bytes + " bytes");
    }

    @Override
    public int rowsDone() {
      return rowsDone;
    }

    @Override
    public long inputBytesDone() {
      return inputBytesDone;
    }

    /** A size as a long is a size and no deferred columns as two little-endian integers. */
    @Override
    public long outputAddress() {
      return output;
    }

    @Override
    public InternalRow resolveDeferred(UnsafeRow row, long ordinals, int count) {
      throw new AssertionError("nothing is deferred");
    }

    @Override
    public void countRowsOut(int rows) {
      rowsOut += rows;
    }

    @Override
    public void inputExhausted() {
      exhausted++;
    }

    @Override
    public void interrupt() {
      interrupted++;
    }

    @Override
    public void close() {
      closed++;
      closedBy = Thread.currentThread();
      Platform.freeMemory(output);
      output = 0;
    }
  }

  private static final int SMALL_ROW = 16;

  private final Identity python = new Identity();

  private static UnsafeProjection oneLong() {
    return UnsafeProjection.create(new DataType[] {DataTypes.LongType});
  }

  private BundleIterator over(Iterator<InternalRow> input) {
    return over(input, BatchEnds.every(Integer.MAX_VALUE));
  }

  private BundleIterator over(Iterator<InternalRow> input, BatchEnds batches) {
    BundleSize whateverTheTime = new BundleSize(1024, Long.MAX_VALUE, Long.MAX_VALUE);
    return over(input, batches, whateverTheTime);
  }

  private BundleIterator over(Iterator<InternalRow> input, BatchEnds batches, BundleSize size) {
    return new BundleIterator(input, batches, false, BundleIteratorTest::oneLong, 1, python, size);
  }

  private static long[] drain(BundleIterator rows) {
    LongStream.Builder values = LongStream.builder();
    while (rows.hasNext()) {
      values.add(rows.next().getLong(0));
    }
    return values.build().toArray();
  }

  private static void assertCounts(long[] values, int count) {
    assertEquals(count, values.length);
    for (int i = 0; i < count; i++) {
      assertEquals(i, values[i]);
    }
  }

  @Test
  public void everyRowComesOutOnceAndInOrder() {
    BundleIterator rows = over(new Numbers(5000, SMALL_ROW));

    assertCounts(drain(rows), 5000);
    rows.close();
    assertEquals(5000, python.rowsOut);
  }

  @Test
  public void theFirstRowNeedsOneRowOfInput() {
    Numbers input = new Numbers(5000, SMALL_ROW);
    BundleIterator rows = over(input);

    rows.next();

    assertEquals(1, input.pulled);
    rows.close();
  }

  @Test
  public void noInputMeansNoBundle() {
    BundleIterator rows = over(new Numbers(0, SMALL_ROW));

    assertFalse(rows.hasNext());

    assertTrue(python.bundles.isEmpty());
    assertEquals(1, python.exhausted);
    rows.close();
  }

  @Test
  public void largeRowsMakeSmallBundles() {
    BundleIterator rows = over(new Numbers(100, 1 << 20));

    drain(rows);

    assertTrue(python.bundles.stream().allMatch(bundle -> bundle <= 4));
    rows.close();
  }

  @Test
  public void whatIsLeftOfABundleIsEvaluatedNext() {
    python.atMost = 3;
    BundleIterator rows = over(new Numbers(1000, SMALL_ROW));

    assertCounts(drain(rows), 1000);
    rows.close();
  }

  @Test
  public void rowsOfOtherKindsAreProjected() {
    Iterator<InternalRow> input =
        new AbstractIterator<InternalRow>() {
          private long next;

          @Override
          public boolean hasNext() {
            return next < 10;
          }

          @Override
          public InternalRow next() {
            return new GenericInternalRow(new Object[] {next++});
          }
        };
    BundleIterator rows = over(input);

    assertCounts(drain(rows), 10);
    rows.close();
  }

  @Test
  public void nothingComesOutAfterTheEndOfTheTask() {
    BundleIterator rows = over(new Numbers(5000, SMALL_ROW));
    for (int i = 0; i < 100; i++) {
      rows.next();
    }

    rows.close();

    assertFalse(rows.hasNext());
    assertThrows(NoSuchElementException.class, rows::next);
    assertEquals(100, python.rowsOut);
  }

  @Test
  public void closingTwiceClosesOnce() {
    BundleIterator rows = over(new Numbers(10, SMALL_ROW));
    drain(rows);

    rows.close();
    rows.close();

    assertEquals(1, python.closed);
  }

  @Test
  public void anErrorLeavesTheIteratorToBeClosed() {
    Identity failing =
        new Identity() {
          @Override
          public void evaluate(long address, int rows, boolean endsBatch) {
            throw new IllegalArgumentException("raised by the function");
          }
        };
    BundleIterator rows =
        new BundleIterator(
            new Numbers(10, SMALL_ROW),
            BatchEnds.every(Integer.MAX_VALUE),
            false,
            BundleIteratorTest::oneLong,
            1,
            failing,
            new BundleSize(1024, 50));

    assertThrows(IllegalArgumentException.class, rows::hasNext);
    rows.close();

    assertEquals(1, failing.closed);
  }

  @Test
  public void bundlesEndWhereBatchesDo() {
    drain(over(new Numbers(10, SMALL_ROW), BatchEnds.every(4)));

    assertEquals(List.of(1, 2, 1, 4, 2), python.bundles);
    assertEquals(List.of(false, false, true, true, false), python.batchEnds);
  }

  @Test
  public void anInputThatTakesLongIsNotAtItsEnd() {
    BatchEnds slow =
        new BatchEnds() {
          @Override
          public int rowsLeft() {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(60));
            return 5;
          }

          @Override
          public boolean endsAfter(int rows) {
            return false;
          }
        };

    BundleIterator rows = over(new Numbers(10, SMALL_ROW), slow, new BundleSize(1024, 50));
    assertEquals(10, drain(rows).length);
  }

  /** Numbers that do something with the iterator over them before the second one. */
  private BundleIterator overInputThat(Consumer<BundleIterator> acts) {
    BundleIterator[] rows = {null};
    Iterator<InternalRow> numbers = new Numbers(10, SMALL_ROW);
    Iterator<InternalRow> input =
        new AbstractIterator<InternalRow>() {
          private int asked;

          @Override
          public boolean hasNext() {
            return numbers.hasNext();
          }

          @Override
          public InternalRow next() {
            if (++asked == 2) {
              acts.accept(rows[0]);
            }
            return numbers.next();
          }
        };
    rows[0] = over(input);
    return rows[0];
  }

  @Test
  public void theInputCannotPullFromTheIterator() {
    BundleIterator rows = overInputThat(BundleIterator::hasNext);
    rows.next();

    Exception error = assertThrows(IllegalStateException.class, rows::hasNext);

    assertEquals(
        "the input of a Python operator pulls from the operator itself", error.getMessage());
    rows.close();
    assertEquals(1, python.closed);
  }

  @Test
  public void theTaskMayEndWhileItsOwnThreadIsInside() {
    int[] closedInside = {-1};
    BundleIterator rows =
        overInputThat(
            iterator -> {
              iterator.close();
              closedInside[0] = python.closed;
            });
    rows.next();

    assertFalse(rows.hasNext());

    assertEquals(0, closedInside[0]);
    assertEquals(1, python.closed);
    assertEquals(0, python.interrupted);
    assertFalse(rows.hasNext());
  }

  @Test
  public void aThreadThatIsInsideIsStoppedAndCleansUp() throws InterruptedException {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch stopped = new CountDownLatch(1);
    Identity busy =
        new Identity() {
          @Override
          public void evaluate(long address, int rows, boolean endsBatch) {
            entered.countDown();
            try {
              stopped.await();
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
            super.evaluate(address, rows, endsBatch);
          }

          @Override
          public void interrupt() {
            super.interrupt();
            stopped.countDown();
          }
        };
    BundleIterator rows =
        new BundleIterator(
            new Numbers(10, SMALL_ROW),
            BatchEnds.every(Integer.MAX_VALUE),
            false,
            BundleIteratorTest::oneLong,
            1,
            busy,
            new BundleSize(1024, 50));
    boolean[] answer = {true};
    Thread driver = new Thread(() -> answer[0] = rows.hasNext());
    driver.start();
    entered.await();

    rows.close();

    assertEquals(1, busy.interrupted);
    assertEquals(1, busy.closed);
    driver.join();
    assertSame(driver, busy.closedBy);
    assertFalse(answer[0]);
  }
}
