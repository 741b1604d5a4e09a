package io.pyflow.execution.task

import java.util.concurrent.atomic.AtomicBoolean

import io.pyflow.bridge.PythonRuntime

/** What the interpreters of this JVM have imported. */
object LoadedModules {
  private val asking = new AtomicBoolean
  @volatile private var last = "[]"

  /**
   * A JSON array, as `PythonRuntime.loadedModules` has it. Where C code holds a GIL, one thread waits
   * for it, and others get what was known before.
   */
  def toJson: String = {
    if (asking.compareAndSet(false, true)) {
      try last = PythonRuntime.loadedModules()
      finally asking.set(false)
    }
    last
  }
}
