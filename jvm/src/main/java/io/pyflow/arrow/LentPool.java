package io.pyflow.arrow;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * What a task lends to Python, to be filled again as soon as Python has released it. That is when
 * the next is asked for, as a rule; a function that keeps what it gets makes more exist. Nobody
 * tells when a function lets go of what it still holds when its task ends, so that is looked at
 * again at the end of later tasks.
 */
public final class LentPool<T extends LentPool.Lent> implements AutoCloseable {
  private static final List<LentPool<?>> STILL_LENT = new ArrayList<>();

  /** Memory that Python can hold. */
  public interface Lent {
    /** Whether Python holds nothing of it. */
    boolean isReleased();

    /** Frees the memory; Python must have released it. */
    void free();
  }

  private final Supplier<T> create;
  private final Runnable whenFreed;
  private final List<T> all = new ArrayList<>();

  /**
   * @param whenFreed called when the pool is closed and all of it is freed
   */
  public LentPool(Supplier<T> create, Runnable whenFreed) {
    this.create = create;
    this.whenFreed = whenFreed;
  }

  /** One that Python holds nothing of. */
  public T next() {
    for (T each : all) {
      if (each.isReleased()) {
        return each;
      }
    }
    T created = create.get();
    all.add(created);
    return created;
  }

  /** Frees what Python has released; what it still holds is freed after the end of a later task. */
  @Override
  public void close() {
    synchronized (STILL_LENT) {
      STILL_LENT.add(this);
      STILL_LENT.removeIf(LentPool::free);
    }
  }

  private boolean free() {
    all.removeIf(
        each -> {
          boolean released = each.isReleased();
          if (released) {
            each.free();
          }
          return released;
        });
    if (all.isEmpty()) {
      whenFreed.run();
    }
    return all.isEmpty();
  }
}
