package io.pyflow.plugin

import org.codehaus.janino.ClassBodyEvaluator

/**
 * Initialises libraries that each session needs, on a thread beside the start of the Spark context:
 * Scala's reflection, with which Spark registers functions, and the compiler of generated code.
 *
 * They are libraries that know nothing of Spark. Two threads that initialise classes of Spark could
 * wait for each other.
 */
private[plugin] object Preloading {
  def begin(): Unit = {
    val thread = new Thread(() => initialise(), "pyflow-preloading")
    thread.setDaemon(true)
    thread.start()
  }

  private def initialise(): Unit = {
    scala.reflect.runtime.universe
    new ClassBodyEvaluator().cook("public int one() { return 1; }")
  }
}
