package io.pyflow.admission

import java.util.concurrent.{CompletableFuture, ExecutionException, TimeoutException, TimeUnit}
import java.util.concurrent.atomic.AtomicReference

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.slf4j.LoggerFactory

import io.pyflow.bridge.{CrashNote, InterpreterKind, PythonRuntime, PythonUnavailableException}
import io.pyflow.config.InterpreterChoice
import io.pyflow.spec.FunctionEnvironment

/**
 * Starts the embedded Python of this JVM, once, on a thread of its own: a task that waits for it can
 * be cancelled. A start that has failed is not tried again; functions then run in process mode.
 *
 * The start runs foreign code, such as `sitecustomize` and modules that `.pth` files import. It is
 * announced to the driver like a function, because a crash would end every executor in turn. The first
 * interpreter with a GIL of its own runs such code, too: its making belongs to the start, and functions
 * for such interpreters wait for it. Those for further tasks are made while functions run, unless the
 * driver says that the start has to be alone.
 */
object PythonStart {
  private val log = LoggerFactory.getLogger(getClass)
  private val LookMillis = 100L

  /** Why Python does not run; None if it does. */
  private type Outcome = Option[String]

  /** By executable: the starts of CPython, with the shared interpreter, and of the first isolated one. */
  private val starts = mutable.Map.empty[(String, InterpreterKind), CompletableFuture[Outcome]]

  /**
   * Returns when Python runs, at once if it already does, or else why it cannot run.
   *
   * @param shared whether the shared interpreter is enough
   * @param throwIfKilled ends the wait of a task
   */
  def failure(executable: String, functionEnvironment: Map[String, String], shared: Boolean)(
      throwIfKilled: => Unit): Option[String] = {
    def of(interpreter: InterpreterKind, isolated: => Int): Option[String] = {
      val start =
        begun(executable, functionEnvironment, interpreter, mayRunBeside = false, isolated)
      // C code may hold the GIL that an interpreter is made with.
      Iterator.continually {
        throwIfKilled
        try Some(start.get(LookMillis, TimeUnit.MILLISECONDS))
        catch { case _: TimeoutException => None }
      }.collectFirst { case Some(outcome) => outcome }.flatten
    }
    try
      of(InterpreterKind.SHARED, 0).orElse(
        if (shared || PythonRuntime.whyNoIsolatedInterpreters.nonEmpty) None
        else of(InterpreterKind.ISOLATED, 1))
    catch {
      case e: ExecutionException => throw e.getCause
    }
  }

  /** Why Python cannot run in this JVM, as far as that is known. */
  def knownFailure(executable: String): Option[String] =
    synchronized(starts.get((executable, InterpreterKind.SHARED))).filter(_.isDone).flatMap {
      start =>
        try start.get()
        catch {
          case _: ExecutionException => None
        }
    }

  /** The start of Python in a driver that runs tasks, until a program turns out to have functions. */
  private val deferred = new AtomicReference[Runnable]

  /**
   * Has Python start when a program turns out to have functions. Its start would take a core from
   * that of the driver, for which all programs wait.
   */
  def defer(start: Runnable): Unit = deferred.set(start)

  def isDeferred: Boolean = deferred.get != null

  /** Starts Python if its start was deferred; the DataStream API calls it, too. */
  def beginDeferred(): Unit = Option(deferred.getAndSet(null)).foreach(_.run())

  /** Starts Python ahead of the first task, and makes interpreters. */
  def inBackground(
      executable: String,
      functionEnvironment: Map[String, String],
      interpreter: String,
      slots: Int): Unit =
    begun(
      executable,
      functionEnvironment,
      InterpreterKind.SHARED,
      mayRunBeside = true,
      if (isIsolated(interpreter)) slots else 0)

  /**
   * @param mayRunBeside whether functions may run before all interpreters are made
   * @param isolated how many isolated interpreters to make, known when CPython runs
   */
  private def begun(
      executable: String,
      environment: Map[String, String],
      interpreter: InterpreterKind,
      mayRunBeside: Boolean,
      isolated: => Int): CompletableFuture[Outcome] = synchronized {
    starts.getOrElseUpdate(
      (executable, interpreter), {
        val outcome = new CompletableFuture[Outcome]
        val variables = FunctionEnvironment.startedWith(environment)
        val work: Runnable =
          () => noted(start(executable, variables, outcome, mayRunBeside, isolated))
        val thread = new Thread(work, "pyflow-start")
        thread.setDaemon(true)
        thread.start()
        outcome
      })
  }

  /** Runs the start of Python, noted in a file where the driver is in the same JVM. */
  private def noted(start: => Unit): Unit =
    if (DriverConnection.isOpen) start
    else Using.resource(CrashNote.of(Seq("the start of Python").asJava))(_ => start)

  private def start(
      executable: String,
      environment: Map[String, String],
      outcome: CompletableFuture[Outcome],
      mayRunBeside: Boolean,
      isolated: => Int): Unit =
    try {
      DriverConnection.ask(StartBegins(DriverConnection.executor))(()) match {
        case Some(reason) if reason != AdmissionMessage.Alone => outcome.complete(Some(reason))
        case answer =>
          PythonRuntime.start(executable, environment.asJava)
          tellOfSharedOnly()
          val count = isolated
          val first = if (count > 0) ofFirstIsolated(executable) else outcome
          val early = mayRunBeside && answer.isEmpty
          if (early) outcome.complete(None)
          makeInterpreters(count, first, early)
          DriverConnection.send(StartEnded(DriverConnection.executor, None))
          Seq(outcome, first).foreach(_.complete(None))
      }
    } catch {
      case e: VirtualMachineError =>
        outcome.completeExceptionally(e)
        throw e
      case e: Throwable =>
        val reason = s"the embedded Python could not be started: ${describe(e)}"
        log.warn("Python functions run in process mode: " + reason, e)
        DriverConnection.send(StartEnded(DriverConnection.executor, Some(reason)))
        outcome.complete(Some(reason))
    }

  /** A free-threaded build has no need of others. */
  private def tellOfSharedOnly(): Unit = {
    val reason = PythonRuntime.whyNoIsolatedInterpreters
    val choice = InterpreterChoice.byDefault(PythonRuntime.version)
    if (choice == InterpreterKind.ISOLATED && reason.nonEmpty && !PythonRuntime.isFreeThreaded) {
      log.warn(
        "Python functions run in the shared interpreter, by turns: the embedded Python " +
          s"${PythonRuntime.version} $reason")
    }
  }

  private def ofFirstIsolated(executable: String): CompletableFuture[Outcome] = synchronized {
    starts.getOrElseUpdate((executable, InterpreterKind.ISOLATED), new CompletableFuture[Outcome])
  }

  /** Where that fails, a task that needs an interpreter tries again, or takes the shared one. */
  private def makeInterpreters(
      count: Int,
      first: CompletableFuture[Outcome],
      early: Boolean): Unit =
    try {
      PythonRuntime.prewarm(count.min(1))
      if (early) first.complete(None)
      PythonRuntime.prewarm(count)
    } catch {
      case e: VirtualMachineError =>
        first.completeExceptionally(e)
        throw e
      case e: Throwable =>
        log.warn("Interpreters could not be made ahead of the tasks that need them", e)
    }

  private def describe(failure: Throwable): String = {
    val text = failure match {
      case unavailable: PythonUnavailableException => unavailable.getMessage
      case other => other.toString
    }
    text.replaceAll("\\s+", " ").stripSuffix(".")
  }

  /** Whether a setting asks for isolated interpreters that the running Python has. */
  private def isIsolated(setting: String): Boolean =
    InterpreterChoice
      .of(setting, PythonRuntime.version)
      .flatMap(InterpreterChoice.inRunningPython(_, setting == "isolated"))
      .contains(InterpreterKind.ISOLATED)

  /** For `pyflow doctor`: starts the Python of an executable and ends with 0, or says why not. */
  def main(arguments: Array[String]): Unit =
    try {
      PythonRuntime.start(arguments.head, Map.empty[String, String].asJava)
      println(PythonRuntime.version)
    } catch {
      case e: Throwable =>
        println(describe(e))
        sys.exit(1)
    }
}
