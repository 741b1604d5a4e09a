package io.pyflow.bridge;

import java.nio.charset.StandardCharsets;

/** CPython cannot run in this JVM; the message says why and what to do. */
public final class PythonUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  PythonUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }

  PythonUnavailableException(String message) {
    super(message);
  }

  /** Called by the native bridge. */
  PythonUnavailableException(byte[] utf8Message) {
    super(new String(utf8Message, StandardCharsets.UTF_8));
  }
}
