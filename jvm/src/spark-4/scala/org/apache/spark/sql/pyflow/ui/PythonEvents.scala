package org.apache.spark.sql.pyflow.ui

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.SparkListenerEvent

/**
 * Functions will run elsewhere from now on than a query was planned.
 *
 * @param time in milliseconds since 1970
 * @param functions by name; none stands for all
 */
case class PythonFunctionsMoved(time: Long, functions: Seq[String], reason: String)
  extends SparkListenerEvent

/**
 * What an executor's CPython has loaded.
 *
 * @param python its full version; empty if it has not started
 * @param memory that CPython has allocated, in bytes
 * @param interpreters the shared one first
 */
case class PythonExecutorState(
    time: Long,
    executor: String,
    host: String,
    python: String,
    memory: Long,
    interpreters: Seq[PythonInterpreter])
  extends SparkListenerEvent

/**
 * @param number 0 for the shared one
 * @param modules packages and modules that are not of the standard library, with their versions
 */
case class PythonInterpreter(number: Int, modules: Seq[String])

/**
 * What the functions of a query could import from, beside the packages of their Python.
 *
 * @param query its number in the SQL tab
 */
case class PythonDependenciesFound(query: Long, dependencies: Seq[PythonDependencies])
  extends SparkListenerEvent

/**
 * @param functions by name
 * @param files and directories of requirements, as they were added to the session or the application
 */
case class PythonDependencies(functions: Seq[String], files: Seq[String])

object PythonEvents {

  /** Tells the listeners of the running application, on its driver; elsewhere nobody listens. */
  def post(event: => SparkListenerEvent): Unit =
    SparkContext.getActive.foreach(_.listenerBus.post(event))

  def moved(functions: Seq[String], reason: String): Unit =
    post(PythonFunctionsMoved(System.currentTimeMillis, functions, reason))
}
