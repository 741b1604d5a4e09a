package io.pyflow.admission

import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.pyflow.RunningTask

import io.pyflow.bridge.{CrashNote, FunctionsRefusedException, PythonUnavailableException, SharedInterpreterRequiredException}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.{FunctionEnvironment, FunctionsSpec}

/**
 * Decides whether the functions of a task run in this JVM, and announces those that do to the driver:
 * after a crash in native code, which ends the executor, only the driver knows the functions that ran
 * there.
 *
 * One round trip before an operator's functions first run in a task, and a message when the task
 * has ended. In local mode, where no driver outlives the crash, a note in a file names them.
 */
object FunctionAdmission {
  private val announcements = new AtomicLong

  /**
   * Runs functions of a task in this JVM, announced until the task ends, or in process mode if there
   * is a reason for that which was not known when the query was planned.
   *
   * @param inThread may refuse with a SharedInterpreterRequiredException or a
   *   FunctionsRefusedException before it takes any input
   */
  def evaluate[T](
      spec: FunctionsSpec,
      identities: Seq[FunctionIdentity],
      settings: ThreadModeSettings)(inThread: (TaskContext, Option[ContentionMeter]) => T)(
      inProcess: TaskContext => T): T = {
    val task = TaskContext.get()
    announcedUnless(spec, identities, settings, task) match {
      case Right(announced) =>
        val meter = Option.when(settings.auto)(new ContentionMeter(identities))
        try inThread(task, meter)
        catch {
          case _: SharedInterpreterRequiredException if settings.fallback =>
            announced.withdraw()
            inProcess(task)
          case refused: SharedInterpreterRequiredException =>
            throw refusal(spec, s"${notShared(refused.getMessage)}. ${settings.advice}")
          case refused: FunctionsRefusedException if settings.fallback =>
            RefusedFunctions.add(MovedToWorkers(refused.getMessage, identities))
            announced.withdraw()
            inProcess(task)
          case refused: FunctionsRefusedException =>
            throw refusal(spec, s"${refused.getMessage}. ${settings.advice}")
          // Functions with modules of a session, which are loaded before any input is taken.
          case _: PythonUnavailableException if settings.fallback =>
            announced.withdraw()
            inProcess(task)
        }
      case Left(_) if settings.fallback => inProcess(task)
      case Left(reason) =>
        throw refusal(spec, s"$reason. ${settings.advice}")
    }
  }

  /**
   * The same for functions that are called where no worker can be asked: they wait where others would
   * leave.
   *
   * @param why no worker can be asked, a sentence
   */
  def evaluateHere[T](
      spec: FunctionsSpec,
      identities: Seq[FunctionIdentity],
      settings: ThreadModeSettings,
      why: String)(inThread: TaskContext => T): T = {
    val task = TaskContext.get()
    announcedUnless(spec, identities, settings.only(why), task).left.foreach { reason =>
      throw refusal(spec, s"$reason. $why")
    }
    try inThread(task)
    catch {
      case refused: FunctionsRefusedException =>
        throw refusal(spec, s"${refused.getMessage}. ${ThreadModeSettings.ProcessAdvice}")
      case unavailable: PythonUnavailableException =>
        throw refusal(spec, s"${unavailable.getMessage}. $why")
    }
  }

  private def refusal(spec: FunctionsSpec, why: String): SparkException =
    new SparkException(s"${spec.functionNames} cannot run in thread mode any more: $why")

  /** Why functions may not run in this JVM, or that it has been announced that they do. */
  private def announcedUnless(
      spec: FunctionsSpec,
      identities: Seq[FunctionIdentity],
      settings: ThreadModeSettings,
      task: TaskContext): Either[String, Announced] =
    ContendedFunctions
      .reasonAgainst(settings.auto, identities)
      .orElse(
        PythonStart
          .failure(settings.python, spec.environment, GilWatch.isShared(spec, settings, task))(
            RunningTask.throwIfKilled(task)))
      .orElse(FunctionEnvironment.reasonAgainst(spec.environment, task))
      .orElse(ofSessionModules(spec, settings, task))
      .orElse(GilWatch.reasonAgainst(spec, settings, task))
      .toLeft(())
      .flatMap(_ => announced(task, identities, settings.auto))

  /** Another attempt may be there because the one before has met an import that needs the shared one. */
  private def ofSessionModules(
      spec: FunctionsSpec,
      settings: ThreadModeSettings,
      task: TaskContext): Option[String] =
    if (!spec.hasSessionModules) None
    else if (GilWatch.isShared(spec, settings, task)) Some(notShared("its Python or its imports"))
    else {
      // Where no worker may run them, they may as well be tried again.
      Option.when(settings.fallback && task.attemptNumber() > 0)(
        notShared("what failed before, perhaps"))
    }

  private def notShared(cause: String): String =
    "it uses Python files of its session, which the shared interpreter does not have, and needs that " +
      s"for $cause"

  private def announced(
      task: TaskContext,
      functions: Seq[FunctionIdentity],
      auto: Boolean): Either[String, Announced] =
    if (DriverConnection.isOpen) {
      val announcement = Announcement(
        DriverConnection.executor,
        announcements.incrementAndGet(),
        task.taskAttemptId(),
        task.stageId(),
        task.partitionId(),
        functions,
        auto)
      val withdrawal = Withdrawal(announcement.task, announcement.id)
      DriverConnection
        .ask(announcement)(RunningTask.throwIfKilled(task))
        .toLeft(new Announced(task, () => DriverConnection.send(withdrawal)))
    } else {
      val note = CrashNote.of(functions.map(_.name).asJava)
      Right(new Announced(task, () => note.close()))
    }

  /** What is withdrawn once: at the end of the task, or before the functions go elsewhere. */
  private final class Announced(task: TaskContext, end: () => Unit) {
    private val ended = new AtomicBoolean
    task.addTaskCompletionListener[Unit](_ => withdraw())

    def withdraw(): Unit = if (ended.compareAndSet(false, true)) end()
  }
}
