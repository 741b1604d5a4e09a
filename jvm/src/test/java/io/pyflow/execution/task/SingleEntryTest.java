package io.pyflow.execution.task;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.Test;

public class SingleEntryTest {
  private final AtomicInteger interrupts = new AtomicInteger();
  private final AtomicInteger releases = new AtomicInteger();
  private final AtomicReference<Thread> releasedBy = new AtomicReference<>();
  private final CountDownLatch interrupted = new CountDownLatch(1);
  private final SingleEntry entry = new SingleEntry(this::interrupt, this::release);

  private void interrupt() {
    interrupts.incrementAndGet();
    interrupted.countDown();
  }

  private void release() {
    releases.incrementAndGet();
    releasedBy.set(Thread.currentThread());
  }

  @Test
  public void threadsMayComeInOneAfterAnother() throws InterruptedException {
    assertTrue(entry.enter());
    entry.leave();
    boolean[] entered = {false};
    Thread other =
        new Thread(
            () -> {
              entered[0] = entry.enter();
              entry.leave();
            });
    other.start();
    other.join();

    assertTrue(entered[0]);
    assertEquals(0, releases.get());
  }

  @Test
  public void closingReleasesOnce() {
    entry.close();
    entry.close();

    assertEquals(1, releases.get());
    assertEquals(0, interrupts.get());
    assertTrue(entry.isClosed());
    assertFalse(entry.enter());
  }

  @Test
  public void aThreadThatClosesWhatItIsInsideOfReleasesWhenItLeaves() {
    entry.enter();
    entry.close();
    assertEquals(0, releases.get());
    assertTrue(entry.isClosed());

    entry.leave();

    assertEquals(1, releases.get());
    assertEquals(0, interrupts.get());
  }

  @Test
  public void nobodyComesInTwice() {
    entry.enter();

    assertThrows(IllegalStateException.class, entry::enter);
  }

  @Test
  public void aThreadInsideIsInterruptedAndReleases() throws InterruptedException {
    CountDownLatch entered = new CountDownLatch(1);
    Thread inside =
        new Thread(
            () -> {
              entry.enter();
              entered.countDown();
              try {
                interrupted.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              entry.leave();
            });
    inside.start();
    entered.await();

    entry.close();

    assertEquals(1, interrupts.get());
    assertEquals(1, releases.get());
    inside.join();
    assertSame(inside, releasedBy.get());
  }

  @Test
  public void whatFailsToReleaseDoesNotKeepTheTaskWaiting() throws InterruptedException {
    SingleEntry failing =
        new SingleEntry(
            this::interrupt,
            () -> {
              throw new IllegalArgumentException("cannot be released");
            });
    CountDownLatch entered = new CountDownLatch(1);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread inside =
        new Thread(
            () -> {
              failing.enter();
              entered.countDown();
              try {
                interrupted.await();
                failing.leave();
              } catch (Throwable e) {
                thrown.set(e);
              }
            });
    inside.start();
    entered.await();

    failing.close();

    inside.join();
    assertTrue(thrown.get() instanceof IllegalArgumentException);
  }
}
