package io.pyflow.bridge;

import java.nio.charset.StandardCharsets;

/** Python code raised; the message is the traceback, formatted as PySpark's workers do. */
public final class PythonFunctionException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Called by the native bridge. */
  PythonFunctionException(byte[] utf8Message) {
    super(new String(utf8Message, StandardCharsets.UTF_8));
  }
}
