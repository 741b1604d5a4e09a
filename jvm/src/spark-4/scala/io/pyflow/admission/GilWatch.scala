package io.pyflow.admission

import java.util.concurrent.TimeUnit

import org.apache.spark.TaskContext
import org.apache.spark.sql.pyflow.RunningTask
import org.slf4j.LoggerFactory

import io.pyflow.bridge.{InterpreterKind, PythonRuntime}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.{FunctionsSpec, ProgramSpec}

/**
 * Keeps tasks from waiting for a GIL that C code does not give up, such as a regular expression that
 * never ends. CPython cannot wait for its GIL for a limited time, nor be interrupted in it: a thread
 * of ours takes the shared interpreter's once for each task that is about to, and the task waits for
 * that thread, in Java.
 *
 * Tasks that were inside before go on waiting; they end when the C code does.
 */
object GilWatch {
  private val log = LoggerFactory.getLogger(getClass)

  private val PatienceSeconds = 5L
  private val LookMillis = 100L

  private var started = false
  private var asked = 0L
  private var answered = 0L

  /** The time at which the thread began to wait, in nanoseconds. */
  private var waitingSince = Option.empty[Long]
  private var told = false

  /**
   * Waits until the GIL that functions would take can be had.
   *
   * @return why the task should go to Spark's workers, if it may and the GIL was not to be had
   */
  def reasonAgainst(
      spec: FunctionsSpec,
      settings: ThreadModeSettings,
      context: TaskContext): Option[String] =
    if (isShared(spec, settings, context)) freeOrReason(context, settings.fallback) else None

  /** Waits until the GIL can be had of the shared interpreter, which functions are to move to. */
  def await(context: TaskContext): Unit = freeOrReason(context, mayLeave = false)

  private def freeOrReason(context: TaskContext, mayLeave: Boolean): Option[String] =
    if (PythonRuntime.isFreeThreaded) None else await(context, mayLeave)

  /** Why functions should not enter the shared interpreter of this JVM now. */
  def reason: Option[String] = synchronized {
    val patience = TimeUnit.SECONDS.toNanos(PatienceSeconds)
    waitingSince.filter(System.nanoTime - _ > patience).map { _ =>
      s"C code has held the GIL of the shared interpreter for more than $PatienceSeconds s"
    }
  }

  /** Whether functions go to the shared interpreter from the first. */
  private[admission] def isShared(
      spec: FunctionsSpec,
      settings: ThreadModeSettings,
      context: TaskContext): Boolean = spec match {
    case rows: ProgramSpec =>
      settings.interpreter == InterpreterKind.SHARED ||
      PythonRuntime.whyNoIsolatedInterpreters.nonEmpty || SharedOnlyFunctions.contains(rows) ||
      isTriedInShared(rows, context)
    case _ => true
  }

  /** Another attempt may be there because the one before has met such an import in another JVM. */
  def isTriedInShared(spec: FunctionsSpec, context: TaskContext): Boolean =
    !spec.hasSessionModules && context.attemptNumber() > 0

  private def await(context: TaskContext, mayLeave: Boolean): Option[String] = synchronized {
    start()
    asked += 1
    val ours = asked
    notifyAll()
    while (answered < ours) {
      RunningTask.throwIfKilled(context)
      val found = reason
      found.foreach(tell)
      if (mayLeave && found.isDefined) {
        return found
      }
      wait(LookMillis)
    }
    None
  }

  private def tell(reason: String): Unit = if (!told) {
    told = true
    log.warn(s"$reason. New tasks of functions in that interpreter run in process mode meanwhile.")
    DriverConnection.send(GilHeld(DriverConnection.executor, Some(reason)))
  }

  private def start(): Unit = if (!started) {
    started = true
    val thread = new Thread(() => takeForEver(), "pyflow-gil-watch")
    thread.setDaemon(true)
    thread.start()
  }

  private def takeForEver(): Unit = while (true) {
    val upTo = synchronized {
      while (asked == answered) {
        wait()
      }
      waitingSince = Some(System.nanoTime)
      asked
    }
    PythonRuntime.takeGil()
    synchronized {
      waitingSince = None
      answered = upTo
      notifyAll()
      if (told) {
        told = false
        log.info("The GIL of the shared interpreter is free again")
        DriverConnection.send(GilHeld(DriverConnection.executor, None))
      }
    }
  }
}
