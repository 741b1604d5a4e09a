package io.pyflow.bridge;

/** Which CPython interpreter a task's functions run in. */
public enum InterpreterKind {
  /**
   * The main interpreter: every extension module works, all tasks share its GIL. A free-threaded
   * CPython has none, and its tasks run in parallel.
   */
  SHARED,
  /** An interpreter with a GIL of its own, leased to one task at a time. */
  ISOLATED
}
