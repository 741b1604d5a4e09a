package io.pyflow.arrow;

import io.pyflow.bridge.BatchSource;

/** What a task gives Python to work on. After the task has ended, there is no more of it. */
public interface TaskInput extends BatchSource, AutoCloseable {
  /** The most memory that Python has held of it at one time. */
  long peakLentBytes();

  @Override
  void close();
}
