package io.pyflow.arrow;

import io.pyflow.bridge.BatchSource;

/** The input of a task's functions. It ends with the task. */
public interface TaskInput extends BatchSource, AutoCloseable {
  /** The most memory that Python has held of it at one time. */
  long peakLentBytes();

  @Override
  void close();
}
