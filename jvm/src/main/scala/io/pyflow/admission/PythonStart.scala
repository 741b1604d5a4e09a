package io.pyflow.admission

import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.math.BigDecimal.RoundingMode
import scala.util.Using

import org.apache.spark.SparkEnv
import org.slf4j.LoggerFactory

import io.pyflow.bridge.{CrashNote, InterpreterKind, PythonRuntime, PythonUnavailableException}
import io.pyflow.config.InterpreterChoice

/**
 * Starts the embedded Python of this JVM, once, on a thread of its own: a task that waits for it can
 * be cancelled. A start that has failed is not tried again; functions then run in process mode.
 *
 * The start runs foreign code, such as `sitecustomize` and modules that `.pth` files import. It is
 * announced to the driver like a function, because a crash would end every executor in turn.
 */
object PythonStart {
  private val log = LoggerFactory.getLogger(getClass)

  /** Why Python does not run; None if it does. */
  private type Outcome = Option[String]

  /** By executable. */
  private val starts = mutable.Map.empty[String, CompletableFuture[Outcome]]

  /** Returns when Python runs, at once if it already does, or else why it cannot run. */
  def failure(executable: String, functionEnvironment: Map[String, String]): Option[String] =
    try begun(executable, functionEnvironment, () => ()).get()
    catch {
      case e: ExecutionException => throw e.getCause
    }

  /** Why Python cannot run in this JVM, as far as that is known. */
  def knownFailure(executable: String): Option[String] =
    synchronized(starts.get(executable)).filter(_.isDone).flatMap { start =>
      try start.get()
      catch {
        case _: ExecutionException => None
      }
    }

  /** Starts Python ahead of the first task, and makes interpreters. */
  def inBackground(
      executable: String,
      functionEnvironment: Map[String, String],
      interpreter: String,
      slots: Int): Unit =
    begun(
      executable,
      functionEnvironment,
      () => preferred(interpreter).foreach(PythonRuntime.prewarm(_, slots)))

  private def begun(
      executable: String,
      environment: Map[String, String],
      prewarm: () => Unit): CompletableFuture[Outcome] = synchronized {
    starts.getOrElseUpdate(
      executable, {
        val outcome = new CompletableFuture[Outcome]
        val variables = threadsOfLibraries ++ environment
        val work: Runnable =
          () => noted(start(executable, variables, outcome, prewarm))
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
      prewarm: () => Unit): Unit =
    try {
      DriverConnection.ask(StartBegins(DriverConnection.executor))(()) match {
        case Some(reason) => outcome.complete(Some(reason))
        case None =>
          PythonRuntime.start(executable, environment.asJava)
          outcome.complete(None)
          // Interpreters run such code, too.
          prewarm()
          DriverConnection.send(StartEnded(DriverConnection.executor, None))
      }
    } catch {
      case e: VirtualMachineError =>
        outcome.completeExceptionally(e)
        throw e
      case e: Throwable if outcome.isDone =>
        log.warn("Interpreters could not be made ahead of the tasks that need them", e)
        DriverConnection.send(StartEnded(DriverConnection.executor, None))
      case e: Throwable =>
        val reason = s"the embedded Python could not be started: ${describe(e)}"
        log.warn("Python functions run in process mode: " + reason, e)
        DriverConnection.send(StartEnded(DriverConnection.executor, Some(reason)))
        outcome.complete(Some(reason))
    }

  /** How many threads Spark lets OpenMP start in a worker, unless its environment says so. */
  private def threadsOfLibraries: Map[String, String] = {
    val cpus = BigDecimal(SparkEnv.get.conf.get("spark.task.cpus", "1"))
    Map("OMP_NUM_THREADS" -> cpus.setScale(0, RoundingMode.CEILING).toInt.toString)
  }

  private def describe(failure: Throwable): String = {
    val text = failure match {
      case unavailable: PythonUnavailableException => unavailable.getMessage
      case other => other.toString
    }
    text.replaceAll("\\s+", " ").stripSuffix(".")
  }

  /** None where the setting asks for what this Python does not have; tasks will say so. */
  private def preferred(setting: String): Option[InterpreterKind] =
    InterpreterChoice
      .of(setting, PythonRuntime.version)
      .flatMap(InterpreterChoice.inRunningPython(_, setting == "isolated"))
      .toOption

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
