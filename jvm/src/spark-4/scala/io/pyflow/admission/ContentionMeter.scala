package io.pyflow.admission

import java.util.{LinkedHashMap, Map => JavaMap}

import io.pyflow.bridge.CallTimes

/**
 * Measures in an executor how long the tasks of an operator's functions wait for the GIL of the
 * interpreter that they share. A meter belongs to one task, and one thread at a time uses it; the
 * measurements of all meters count together.
 *
 * A task waits when it is in a call and spends no processor time: for the GIL, which it takes before
 * Python runs and which CPython then passes on by itself, or for something that would make it wait in
 * a process of its own too, like a processor. So only as much of that waiting is counted as other tasks
 * have held the interpreter meanwhile, for the GIL as well: who holds it may have no processor. How
 * long they have can be told from the processor time that they have spent there, even where processors
 * are scarce: an interpreter that is busy two thirds of the time is taken to be busy all of it, and one
 * that is less busy in proportion. Processor times are read in a sample of the calls, which tells those
 * of the calls in between, too: one of many short calls waits, and for long.
 */
class ContentionMeter(functions: Seq[FunctionIdentity]) {
  private var last = Option.empty[Long]

  // Of the calls since then.
  private var gilWait = 0L
  private var python = 0L

  /** Takes the times of a call that has just returned. */
  def add(times: CallTimes): Unit = {
    gilWait += times.gilWaitNanos
    python += times.pythonNanos
    if (times.sampledNanos > 0) {
      addSample(times)
    }
  }

  private def addSample(times: CallTimes): Unit = {
    val now = System.nanoTime
    val elapsed = now - last.getOrElse(now - gilWait - python)
    val found = ContentionMeter.found(functions, elapsed, gilWait, python, times)
    last = Some(now)
    gilWait = 0
    python = 0
    found.foreach { contention =>
      // Holds in this executor at once, and everywhere as soon as the driver has got the message.
      ContendedFunctions.add(contention)
      DriverConnection.send(contention)
    }
  }
}

object ContentionMeter {

  /** In percent. Less than this is not worth the detour over a worker. */
  private val TooMuch = 33

  /** Of all tasks together. Shorter, the imports of the first batches would count too much. */
  private val EnoughNanos = 2000000000L

  /** What was measured longer ago loses its weight. */
  private val MemoryNanos = 10 * EnoughNanos

  private val Remembered = 1000

  private class Measured {
    private var elapsed = 0.0
    private var gilWait = 0.0
    private var python = 0.0
    private var sampled = 0.0
    private var cpu = 0.0
    private var othersCpu = 0.0

    def add(elapsedNanos: Long, gilWaitNanos: Long, pythonNanos: Long, times: CallTimes): Unit = {
      val weight = if (elapsed > MemoryNanos) 0.5 else 1.0
      elapsed = weight * elapsed + elapsedNanos
      gilWait = weight * gilWait + gilWaitNanos
      python = weight * python + pythonNanos
      sampled = weight * sampled + times.sampledNanos
      cpu = weight * cpu + times.cpuNanos
      othersCpu = weight * othersCpu + times.othersCpuNanos
    }

    /** The sample stands for all the time in Python. */
    def waitPercent: Option[Int] = Option.when(elapsed >= EnoughNanos) {
      val inSample = gilWait + sampled
      val heldByOthers = othersCpu * inSample / (cpu + othersCpu).max(inSample * 2 / 3).max(1)
      val waited = (inSample - cpu).min(heldByOthers) / inSample.max(1) * (gilWait + python)
      (100 * waited / elapsed).toInt
    }
  }

  /** Of the functions that ran last; an application may define new ones without end. */
  private val measured =
    new LinkedHashMap[Seq[FunctionIdentity], Measured](16, 0.75f, true) {
      override protected def removeEldestEntry(
          eldest: JavaMap.Entry[Seq[FunctionIdentity], Measured]): Boolean = size > Remembered
    }

  /** Forgets everything, when an application begins. */
  def clear(): Unit = synchronized(measured.clear())

  private def found(
      functions: Seq[FunctionIdentity],
      elapsedNanos: Long,
      gilWaitNanos: Long,
      pythonNanos: Long,
      times: CallTimes): Option[Contention] = synchronized {
    val ofFunctions = measured.computeIfAbsent(functions, _ => new Measured)
    ofFunctions.add(elapsedNanos, gilWaitNanos, pythonNanos, times)
    def known = ContendedFunctions.reasonAgainst(auto = true, functions).isDefined
    ofFunctions.waitPercent.filter(_ >= TooMuch && !known).map(Contention(_, functions))
  }
}
