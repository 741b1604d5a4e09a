package io.pyflow.admission

import scala.collection.mutable

import org.apache.spark.sql.pyflow.ui.PythonEvents
import org.slf4j.LoggerFactory

import io.pyflow.config.PyFlowConf

/**
 * The functions whose tasks keep each other waiting for the GIL of the interpreter that they share.
 * Where the execution mode is `auto`, they run in process mode for the rest of the application.
 *
 * The driver knows them all; an executor knows those that it has measured itself with a
 * [[ContentionMeter]].
 */
object ContendedFunctions {
  private val log = LoggerFactory.getLogger(getClass)

  private val reasons = mutable.Map.empty[String, String]

  /**
   * Why one of the functions should run in process mode.
   *
   * @param auto whether the session's execution mode is `auto`
   */
  def reasonAgainst(auto: Boolean, functions: => Seq[FunctionIdentity]): Option[String] =
    synchronized {
      if (auto && reasons.nonEmpty) {
        functions.flatMap(each => reasons.get(each.digest)).headOption
      } else {
        None
      }
    }

  /** Adds the functions that an executor has found. */
  def add(contention: Contention): Unit = synchronized {
    val added = contention.functions.filterNot(each => reasons.contains(each.digest))
    added.foreach { function =>
      reasons.update(
        function.digest,
        s"its tasks waited ${contention.waitPercent} % of their time for the GIL that they share " +
          s"(${PyFlowConf.EXECUTION_MODE.key}=auto)")
    }
    if (added.nonEmpty) {
      log.warn(
        s"${added.map(_.name).mkString(", ")}: tasks waited ${contention.waitPercent} % of their " +
          "time for the GIL that they share. The following tasks run in process mode " +
          s"(${PyFlowConf.EXECUTION_MODE.key}=auto).")
      PythonEvents.moved(added.map(_.name), reasons(added.head.digest))
    }
  }

  /** Forgets everything, when an application begins. */
  def clear(): Unit = synchronized(reasons.clear())
}
