package io.pyflow.arrow;

import io.pyflow.bridge.BatchSource;

/** What a task gives Python to work on. After the task has ended, there is no more of it. */
public interface TaskInput extends BatchSource, AutoCloseable {
  /** Gives back what Python has released. */
  @Override
  void close();
}
