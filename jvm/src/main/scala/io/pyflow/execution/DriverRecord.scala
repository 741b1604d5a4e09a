package io.pyflow.execution

import java.util.concurrent.atomic.AtomicLong

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.sql.pyflow.{FunctionIdentity, FunctionsSpec}

import io.pyflow.bridge.CrashNote

/**
 * Keeps the driver's record of the functions that run in this executor. A crash in native code
 * takes the executor with it, so that only what the driver already knows can tell what ran there.
 *
 * One round trip before an operator's functions first run in a task, and a message when the task
 * has ended. In local mode there is no driver that would outlive the crash; notes that stay behind
 * tell the user what ran.
 */
object DriverRecord {

  /** Where there is no driver beside the executor. */
  private val Local = "driver"

  @volatile private var driver = Option.empty[PluginContext]
  private val announcements = new AtomicLong

  /**
   * Called when the executor starts. Spark looks the driver's endpoint up with the first message
   * and never again; in a task, a cancellation would interrupt that and leave the executor without.
   */
  def sendTo(context: PluginContext): Unit = {
    context.send(Withdrawal.ofNothing.encoded)
    driver = Some(context)
  }

  /**
   * Runs functions of a task in this JVM, recorded until the task ends, or in process mode if the
   * driver has a reason for that, which it had not when the query was planned.
   */
  def evaluate[T](
      spec: FunctionsSpec,
      identities: Seq[FunctionIdentity],
      settings: ThreadModeSettings)(inThread: (TaskContext, Option[GilContention.Meter]) => T)(
      inProcess: TaskContext => T): T = {
    val task = TaskContext.get()
    GilContention
      .reasonAgainst(settings.auto, identities)
      .orElse(PythonStart.failure(settings.python, spec.environment))
      .orElse(GilWatch.reasonAgainst(spec, settings, task))
      .orElse(announce(task, identities, settings.auto)) match {
      case None => inThread(task, Option.when(settings.auto)(new GilContention.Meter(identities)))
      case Some(_) if settings.fallback => inProcess(task)
      case Some(reason) =>
        throw new SparkException(
          s"${spec.functionNames} cannot run in thread mode any more: $reason. Set " +
            "spark.pyflow.fallback=true to run such functions in process mode, or " +
            "spark.pyflow.execution-mode=process for this query.")
    }
  }

  /** Tells the driver something that it does not answer. */
  def send(message: DriverMessage): Unit = driver.foreach(_.send(message.encoded))

  def executor: String = driver.fold(Local)(_.executorID)

  /** Tells the driver that Python is about to start here; why it must not. */
  def announceStart(): Option[String] =
    driver.flatMap(context => ask(context, StartBegins(context.executorID)))

  /** Runs the start of Python, noted where there is no driver to tell. */
  def noteStart(start: => Unit): Unit =
    if (driver.isDefined) start
    else Using.resource(CrashNote.of(Seq("the start of Python").asJava))(_ => start)

  private def announce(
      task: TaskContext,
      functions: Seq[FunctionIdentity],
      auto: Boolean): Option[String] =
    driver match {
      case None =>
        val note = CrashNote.of(functions.map(_.name).asJava)
        task.addTaskCompletionListener[Unit](_ => note.close())
        None
      case Some(context) =>
        val announcement = Announcement(
          context.executorID,
          announcements.incrementAndGet(),
          task.taskAttemptId(),
          task.stageId(),
          task.partitionId(),
          functions,
          auto)
        val reason = ask(context, announcement)
        if (reason.isEmpty) {
          val withdrawal = Withdrawal(announcement.task, announcement.id)
          task.addTaskCompletionListener[Unit](_ => send(withdrawal))
        }
        reason
    }

  /** The driver's reason for process mode, if it has one. */
  private def ask(context: PluginContext, message: DriverMessage): Option[String] =
    context.ask(message.encoded) match {
      case "" => None
      case reason: String => Some(reason)
      case other => throw SparkException.internalError(s"unexpected answer $other")
    }
}
