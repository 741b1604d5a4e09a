package io.pyflow.bridge;

/** The Python functions of one operator, loaded for one task. */
public interface LoadedFunctions extends AutoCloseable {
  /** The pickled (id, value) pairs of the accumulators the functions use; call once, at the end. */
  byte[][] accumulatorUpdates();

  @Override
  void close();
}
