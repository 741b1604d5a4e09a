package io.pyflow.bridge;

/**
 * There is no memory for the input that a function asks for. That fails the task; an {@code
 * OutOfMemoryError} would end the executor.
 */
public final class LentMemoryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  LentMemoryException(String message) {
    super(message);
  }
}
