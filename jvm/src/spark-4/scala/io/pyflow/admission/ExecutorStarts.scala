package io.pyflow.admission

import scala.collection.mutable

import org.apache.spark.{ExecutorLostFailure, SparkContext}
import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorRemoved, SparkListenerTaskEnd}
import org.apache.spark.sql.pyflow.Executors
import org.apache.spark.sql.pyflow.ui.PythonEvents
import org.slf4j.LoggerFactory

/**
 * The starts of CPython in the executors of an application. Where one has failed, or its executor was
 * lost meanwhile, all functions run in process mode from then on: every executor would fail alike.
 *
 * Functions may run before a start has ended, while interpreters for other tasks are made. When the
 * executor is lost then, nobody can tell which of them crashed:
 * {{{
 *   running there            what goes to process mode
 *   a start                  everything
 *   functions                the functions
 *   a start and functions    the functions; later starts are alone
 * }}}
 * A crash of the start comes again in the next executor, where no functions run beside it any more.
 *
 * @param losses of which Spark has not told the cause yet
 * @param runsFunctions whether functions were running in an executor; `Quarantine` judges these
 */
class ExecutorStarts(losses: UnexplainedLosses, runsFunctions: String => Boolean) {
  import ExecutorStarts._

  private val starting = mutable.Set.empty[String]
  private var failure = Option.empty[String]
  private var alone = false

  /**
   * Why CPython must not start in an executor that is about to start it; `AdmissionMessage.AskAgain` as
   * long as nobody knows why another one was lost meanwhile. `AdmissionMessage.Alone` if it may, but
   * functions have to wait until the start has ended.
   */
  def begins(executor: String): Option[String] = synchronized {
    val (unexplained, recent) = losses.among(starting)
    unexplained.foreach(lost(_, UnexplainedLosses.UnknownCause))
    val reason = failure.orElse(Option.when(recent.nonEmpty)(AdmissionMessage.AskAgain))
    if (reason.isEmpty && !losses.isLost(executor)) {
      starting += executor
    }
    reason.orElse(Option.when(alone)(AdmissionMessage.Alone))
  }

  def ended(executor: String, failed: Option[String]): Unit = synchronized {
    forget(executor)
    failed.foreach(reason => add(executor, s"$reason (executor $executor)"))
  }

  /**
   * A task has ended with its executor, which Spark may tell before it tells of the executor. Without
   * functions there, the start is judged with the executor.
   */
  def taskLost(executor: String, byApplication: Boolean, cause: String): Unit = synchronized {
    if (starting.contains(executor) && runsFunctions(executor)) {
      if (byApplication) lost(executor, cause) else forget(executor)
    }
  }

  def executorRemoved(executor: String, cause: String): Unit = synchronized {
    if (starting.contains(executor)) lost(executor, cause)
  }

  def reason: Option[String] = synchronized(failure)

  private def forget(executor: String): Unit = {
    starting -= executor
    losses.explained(executor)
  }

  private def lost(executor: String, told: String): Unit = {
    forget(executor)
    val cause = told.replaceAll("\\s+", " ").stripSuffix(".")
    if (!EndedFromOutside(cause)) {
      if (runsFunctions(executor)) addDoubt(executor, cause)
      else
        add(
          executor,
          s"executor $executor was lost while the embedded Python started ($cause): what this " +
            "Python imports when it starts, such as sitecustomize or .pth files, may crash inside a " +
            "JVM")
    }
  }

  private def addDoubt(executor: String, cause: String): Unit = if (!alone) {
    alone = true
    log.warn(
      s"Executor $executor was lost ($cause) while it ran Python functions and made interpreters " +
        "for others. The functions are taken to be the cause. In executors that start from now on, " +
        "functions wait until the interpreters are made.")
  }

  private def add(executor: String, reason: String): Unit = if (failure.isEmpty) {
    failure = Some(reason)
    log.warn(
      s"Python functions run in process mode for the rest of this application: $reason. See the " +
        s"log of executor $executor, and run `pyflow doctor` there.")
    PythonEvents.moved(Nil, reason)
  }
}

object ExecutorStarts {
  private val log = LoggerFactory.getLogger(classOf[ExecutorStarts])

  @volatile private var current = Option.empty[ExecutorStarts]

  /** Starts with an application, on its driver. */
  def begin(sc: SparkContext): Unit = {
    val starts =
      new ExecutorStarts(
        new UnexplainedLosses(Executors.isRegistered, UnexplainedLosses.PatienceMillis),
        Quarantine.runIn)
    sc.addSparkListener(new Losses(starts))
    current = Some(starts)
  }

  def end(): Unit = current = None

  def begins(executor: String): Option[String] = current.flatMap(_.begins(executor))

  def ended(executor: String, failure: Option[String]): Unit =
    current.foreach(_.ended(executor, failure))

  /** Why no function can run in thread mode in the running application. */
  def reason: Option[String] = current.flatMap(_.reason)

  private class Losses(starts: ExecutorStarts) extends SparkListener {
    override def onTaskEnd(end: SparkListenerTaskEnd): Unit = end.reason match {
      case ExecutorLostFailure(executor, byApplication, cause) =>
        val told = cause.getOrElse(UnexplainedLosses.UnknownCause)
        starts.taskLost(executor, byApplication, told)
      case _ =>
    }

    override def onExecutorRemoved(removed: SparkListenerExecutorRemoved): Unit =
      starts.executorRemoved(removed.executorId, removed.reason)
  }
}
