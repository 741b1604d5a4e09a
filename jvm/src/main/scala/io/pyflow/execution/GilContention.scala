package io.pyflow.execution

import java.util.{LinkedHashMap, Map => JavaMap}

import scala.collection.mutable

import org.apache.spark.sql.pyflow.FunctionIdentity
import org.slf4j.LoggerFactory

import io.pyflow.bridge.CallTimes
import io.pyflow.plugin.PyFlowConf

/**
 * The functions whose tasks keep each other waiting for the GIL of the interpreter that they share.
 * Where the execution mode is `auto`, they run in process mode for the rest of the application.
 *
 * An executor measures; what it finds holds there at once, and everywhere as soon as the driver has
 * been told.
 *
 * A task waits in Python when it is inside and spends no processor time: for the GIL, or for
 * something that would make it wait in a process of its own too. So only as much of the waiting is
 * counted as other tasks have held the interpreter meanwhile. How long they have can be told from
 * the processor time that they have spent there, even where processors are scarce: an interpreter
 * that is busy most of the time is taken to be busy all of it.
 */
object GilContention {
  private val log = LoggerFactory.getLogger(getClass)

  /** In percent. Less than this is not worth the detour over a worker. */
  private val TooMuch = 33

  /** Of all tasks together. Shorter, the imports of the first batches would count too much. */
  private val EnoughNanos = 2000000000L

  /** What was measured longer ago loses its weight. */
  private val MemoryNanos = 10 * EnoughNanos

  private val Remembered = 1000

  private class Measured {
    private var elapsed = 0.0
    private var inside = 0.0
    private var cpu = 0.0
    private var othersCpu = 0.0

    def add(elapsedNanos: Long, times: CallTimes): Unit = {
      val weight = if (elapsed > MemoryNanos) 0.5 else 1.0
      elapsed = weight * elapsed + elapsedNanos
      inside = weight * inside + times.gilWaitNanos + times.pythonNanos
      cpu = weight * cpu + times.cpuNanos
      othersCpu = weight * othersCpu + times.othersCpuNanos
    }

    def waitPercent: Option[Int] = Option.when(elapsed >= EnoughNanos) {
      val heldByOthers = othersCpu * inside / (cpu + othersCpu).max(inside / 2).max(1)
      (100 * (inside - cpu).min(heldByOthers) / elapsed).toInt
    }
  }

  /** Of the functions that ran last; an application may define new ones without end. */
  private val measured =
    new LinkedHashMap[Seq[FunctionIdentity], Measured](16, 0.75f, true) {
      override protected def removeEldestEntry(
          eldest: JavaMap.Entry[Seq[FunctionIdentity], Measured]): Boolean = size > Remembered
    }
  private val reasons = mutable.Map.empty[String, String]

  /**
   * Why one of the functions should run in process mode.
   *
   * @param auto whether the session leaves that to PyFlow
   */
  def reasonAgainst(auto: Boolean, functions: => Seq[FunctionIdentity]): Option[String] =
    if (auto) reasonAgainst(functions) else None

  private def reasonAgainst(functions: => Seq[FunctionIdentity]): Option[String] = synchronized {
    if (reasons.isEmpty) None else functions.flatMap(each => reasons.get(each.digest)).headOption
  }

  /** Takes down what an executor has found. */
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
    }
  }

  /** Forgets everything, when an application begins. */
  def clear(): Unit = synchronized {
    measured.clear()
    reasons.clear()
  }

  /** Measures an operator in one task. Called by one thread at a time. */
  class Meter(functions: Seq[FunctionIdentity]) {
    private var last = Option.empty[Long]

    /** Takes the times of a call that has just returned. */
    def add(times: CallTimes): Unit = {
      val now = System.nanoTime
      val start = last.getOrElse(now - times.gilWaitNanos - times.pythonNanos)
      last = Some(now)
      found(functions, now - start, times).foreach { contention =>
        GilContention.add(contention)
        DriverRecord.send(contention)
      }
    }
  }

  private def found(
      functions: Seq[FunctionIdentity],
      elapsedNanos: Long,
      times: CallTimes): Option[Contention] = synchronized {
    val ofFunctions = measured.computeIfAbsent(functions, _ => new Measured)
    ofFunctions.add(elapsedNanos, times)
    ofFunctions.waitPercent.filter(_ >= TooMuch && reasonAgainst(functions).isEmpty).map {
      Contention(_, functions)
    }
  }
}
