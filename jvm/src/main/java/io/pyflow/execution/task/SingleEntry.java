package io.pyflow.execution.task;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Guards what one thread at a time uses, and a task releases at its end, although a thread may
 * still be inside.
 *
 * <p>An iterator may be driven by another thread than the task's. The thread that closes interrupts
 * the one inside and waits for it, for a limited time; the one inside releases on leaving. So
 * nothing is released under a thread that uses it, not even by that thread itself.
 */
public final class SingleEntry {
  private static final Logger LOG = LoggerFactory.getLogger(SingleEntry.class);

  private static final int IDLE = 0;
  private static final int INSIDE = 1;
  private static final int CLOSED = 2;

  /** How long the end of a task waits for another thread that is still inside. */
  private static final long CLOSE_WAIT_SECONDS = 10;

  private final Runnable interrupt;
  private final Runnable release;
  private final AtomicInteger state = new AtomicInteger(IDLE);
  private final CountDownLatch released = new CountDownLatch(1);
  private volatile boolean closed;
  private volatile Thread inside;

  /**
   * @param interrupt asks the thread that is inside to leave; returns at once
   * @param release gives everything back; called once
   */
  public SingleEntry(Runnable interrupt, Runnable release) {
    this.interrupt = interrupt;
    this.release = release;
  }

  /** Whether the task has ended: a thread that is inside should leave. */
  public boolean isClosed() {
    return closed;
  }

  /**
   * Comes in, to {@link #leave} again; false if it is closed.
   *
   * @throws IllegalStateException if a thread is inside, this one or another
   */
  public boolean enter() {
    if (state.compareAndSet(IDLE, INSIDE)) {
      inside = Thread.currentThread();
      return true;
    }
    if (closed) {
      return false;
    }
    throw new IllegalStateException(
        inside == Thread.currentThread()
            ? "the input of a Python operator pulls from the operator itself"
            : "two threads pull from one Python operator at once");
  }

  /** Does something inside; nothing if it is closed. */
  public void run(Runnable work) {
    if (enter()) {
      try {
        work.run();
      } finally {
        leave();
      }
    }
  }

  public void leave() {
    inside = null;
    if (!state.compareAndSet(INSIDE, IDLE)) {
      releaseAll();
    }
  }

  public void close() {
    closed = true;
    int before = state.getAndSet(CLOSED);
    if (before == IDLE) {
      releaseAll();
    } else if (before == INSIDE && inside != Thread.currentThread()) {
      interrupt.run();
      awaitRelease();
    }
  }

  private void releaseAll() {
    try {
      release.run();
    } finally {
      released.countDown();
    }
  }

  private void awaitRelease() {
    try {
      if (!released.await(CLOSE_WAIT_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn(
            "A thread is still inside Python {} s after its task has ended; "
                + "what it holds is freed when it comes back",
            CLOSE_WAIT_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
