package io.pyflow.bridge;

/** Where the functions of a {@link PythonBatches} get their input from. */
public interface BatchSource {
  /** There are no more batches, or groups. */
  long END = -1;

  /** There are no more batches in the current group. */
  long END_OF_GROUP = -2;

  /**
   * Fills the Arrow C data structure at an address with the next batch, as a struct of its columns.
   * Called without the GIL, from any thread that the functions use.
   *
   * @return the number of rows, {@link #END_OF_GROUP} or {@link #END}
   */
  long next(long arrayAddress);
}
