package org.apache.spark.sql.pyflow

import scala.jdk.CollectionConverters._

import org.apache.spark.api.python.PythonFunction

/** A function as the driver's Python has pickled it. Spark keeps the parts of one to itself. */
case class PickledFunction(private[sql] val function: PythonFunction) {
  def command: Array[Byte] = function.command.toArray

  /** The Python that pickled it, "3.13". */
  def pythonVersion: String = function.pythonVer

  def pythonExecutable: String = function.pythonExec

  /** Variables that the driver's Python wants in the environment of the function. */
  def environment: Map[String, String] = function.envVars.asScala.toMap

  /** Names of the files and archives that the function may import from. */
  def includes: Seq[String] = function.pythonIncludes.asScala.toSeq

  def hasBroadcasts: Boolean = !function.broadcastVars.isEmpty

  /** The ids of the function's broadcast variables and the files with their values. */
  def broadcasts: Seq[(Long, String)] = function.broadcastVars.asScala.toSeq.map { broadcast =>
    (broadcast.id, broadcast.value.path)
  }

  /** Adds what the functions of a task have added to the accumulators of the driver's Python. */
  def addAccumulatorUpdates(updates: Iterable[Array[Byte]]): Unit =
    Option(function.accumulator).foreach(accumulator => updates.foreach(accumulator.add))
}
