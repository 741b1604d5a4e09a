package io.pyflow.bridge;

/** The Python functions of one operator, loaded for one task. */
public interface LoadedFunctions extends AutoCloseable {
  /** Where the time of the last call into them went. */
  CallTimes times();

  /** The traceback of the last call, if that has raised. */
  String error();

  /** The pickled (id, value) pairs of the accumulators the functions use; call once, at the end. */
  byte[][] accumulatorUpdates();

  @Override
  void close();
}
