package io.pyflow.execution.batches;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.junit.Test;
import scala.Option;
import scala.runtime.BoxedUnit;

public class BatchIteratorTest {
  private int made;
  private int interrupted;
  private int released;
  private volatile Thread releasedBy;
  private Consumer<BatchIterator> acts = iterator -> {};
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final BatchIterator batches =
      new BatchIterator(this::advance, this::interrupt, this::release);

  /** Three batches; before the second, something happens inside. */
  private Option<ColumnarBatch> advance() {
    if (++made == 2) {
      acts.accept(batches);
    }
    return made > 3 ? Option.empty() : Option.apply(new ColumnarBatch(new ColumnVector[0], made));
  }

  private BoxedUnit interrupt() {
    interrupted++;
    stopped.countDown();
    return BoxedUnit.UNIT;
  }

  private BoxedUnit release() {
    released++;
    releasedBy = Thread.currentThread();
    return BoxedUnit.UNIT;
  }

  @Test
  public void everyBatchComesOutOnceAndInOrder() {
    for (int rows = 1; rows <= 3; rows++) {
      assertTrue(batches.hasNext());
      assertEquals(rows, batches.next().numRows());
    }

    assertFalse(batches.hasNext());
    assertFalse(batches.hasNext());
    assertEquals(4, made);
    assertThrows(NoSuchElementException.class, batches::next);
  }

  @Test
  public void nothingComesOutAfterTheEndOfTheTask() {
    assertTrue(batches.hasNext());

    batches.close();
    batches.close();

    assertFalse(batches.hasNext());
    assertThrows(NoSuchElementException.class, batches::next);
    assertEquals(1, released);
  }

  @Test
  public void theInputCannotPullFromTheIterator() {
    acts = BatchIterator::hasNext;
    batches.next();

    Exception error = assertThrows(IllegalStateException.class, batches::hasNext);

    assertEquals(
        "the input of a Python operator pulls from the operator itself", error.getMessage());
    batches.close();
    assertEquals(1, released);
  }

  @Test
  public void theTaskMayEndWhileItsOwnThreadIsInside() {
    int[] releasedInside = {-1};
    acts =
        iterator -> {
          iterator.close();
          releasedInside[0] = released;
        };
    batches.next();

    assertFalse(batches.hasNext());

    assertEquals(0, releasedInside[0]);
    assertEquals(1, released);
    assertEquals(0, interrupted);
    assertFalse(batches.hasNext());
  }

  @Test
  public void aThreadThatIsInsideIsStoppedAndCleansUp() throws InterruptedException {
    CountDownLatch entered = new CountDownLatch(1);
    acts =
        iterator -> {
          entered.countDown();
          try {
            stopped.await();
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        };
    batches.next();
    boolean[] answer = {true};
    Thread driver = new Thread(() -> answer[0] = batches.hasNext());
    driver.start();
    entered.await();

    batches.close();

    assertEquals(1, interrupted);
    assertEquals(1, released);
    driver.join();
    assertSame(driver, releasedBy);
    assertFalse(answer[0]);
  }
}
