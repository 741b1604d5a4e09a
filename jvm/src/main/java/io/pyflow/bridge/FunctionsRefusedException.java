package io.pyflow.bridge;

import java.nio.charset.StandardCharsets;

/**
 * The interpreter of a task refuses to load its functions, for the reason that the message is.
 * Workers can run them.
 */
public final class FunctionsRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Called by the native bridge. */
  FunctionsRefusedException(byte[] utf8Message) {
    super(new String(utf8Message, StandardCharsets.UTF_8));
  }
}
