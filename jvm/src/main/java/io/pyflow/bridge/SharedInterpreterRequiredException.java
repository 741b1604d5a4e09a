package io.pyflow.bridge;

import java.nio.charset.StandardCharsets;

/** A function imports an extension module that refuses isolated interpreters. */
public final class SharedInterpreterRequiredException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Called by the native bridge. */
  SharedInterpreterRequiredException(byte[] utf8Message) {
    super(new String(utf8Message, StandardCharsets.UTF_8));
  }
}
