package io.pyflow.bridge;

/**
 * There is no memory for the input of a function. That fails the task; an {@code OutOfMemoryError}
 * would end the executor.
 */
public final class LentMemoryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  LentMemoryException(String message) {
    super(message);
  }

  /**
   * The error for rows on their way to functions, which do not keep them.
   *
   * @param functions their names
   */
  public static LentMemoryException forRows(long bytes, String functions) {
    return new LentMemoryException(
        String.format(
            "The executor has no memory for %s of input of the Python function %s (a bundle of"
                + " rows): the system refuses it. Raise spark.executor.memoryOverhead, have fewer"
                + " tasks at once (spark.executor.cores, spark.task.cpus), or make the rows smaller"
                + " that the function gets.",
            LentMemory.mebibytes(bytes), functions));
  }
}
