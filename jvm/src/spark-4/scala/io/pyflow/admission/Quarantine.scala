package io.pyflow.admission

import scala.collection.mutable

import org.apache.spark.{ExecutorLostFailure, SparkContext, TaskEndReason}
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.pyflow.Executors
import org.apache.spark.sql.pyflow.ui.PythonEvents
import org.slf4j.LoggerFactory

import io.pyflow.config.PyFlowConf

/**
 * The functions of an application that were running when an executor was lost; they stay out of the
 * executors' JVMs from then on. A crash in native code so costs one executor, and the job finishes.
 *
 * {{{
 *   executor: announcement  -> running   before a task's functions first run
 *   executor: withdrawal    -> removed   the task has ended
 *   Spark: task end         -> removed   and, if the executor was lost: its functions in quarantine
 * }}}
 *
 * Spark launches the lost tasks again before its listeners are called. Their announcements meet those
 * of the earlier attempts, and wait for the cause of the loss.
 *
 * @param losses of which Spark has not told the cause yet
 */
class Quarantine(losses: UnexplainedLosses) {
  import Quarantine.log

  private val running = mutable.LongMap.empty[List[Announcement]]
  private val reasons = mutable.Map.empty[String, String]

  /**
   * Why functions must run in process mode; without a reason, they count as running.
   * `AdmissionMessage.AskAgain` as long as nobody knows why an executor was lost where an earlier
   * attempt of the task ran one of them.
   */
  def announce(announcement: Announcement): Option[String] = synchronized {
    val (unexplained, recent) = losses.among(earlierAttempts(announcement).map(_.executor))
    unexplained.foreach(add(_, UnexplainedLosses.UnknownCause))
    val reason = reasonAgainst(announcement.functions)
      .orElse(Option.when(recent.nonEmpty)(AdmissionMessage.AskAgain))
    if (reason.isEmpty && !losses.isLost(announcement.executor)) {
      running.update(announcement.task, announcement :: announced(announcement.task))
    }
    reason
  }

  def withdraw(withdrawal: Withdrawal): Unit = synchronized {
    announced(withdrawal.task).filter(_.id != withdrawal.id) match {
      case Nil => running.remove(withdrawal.task)
      case others => running.update(withdrawal.task, others)
    }
  }

  def taskEnded(task: Long, reason: TaskEndReason): Unit = synchronized {
    reason match {
      // Spark counts an executor that is silent as the application's fault, though it ends it.
      case ExecutorLostFailure(executor, byApplication, cause) =>
        losses.explained(executor)
        if (byApplication && !cause.exists(EndedFromOutside(_))) {
          add(executor, cause.getOrElse(UnexplainedLosses.UnknownCause))
        }
      case _ =>
    }
    running.remove(task)
  }

  /** Whether functions were running in an executor, as far as their tasks are not known to have ended. */
  def runIn(executor: String): Boolean = synchronized {
    running.valuesIterator.flatten.exists(_.executor == executor)
  }

  /** Why one of the functions is in quarantine. */
  def reasonAgainst(functions: => Seq[FunctionIdentity]): Option[String] = synchronized {
    if (reasons.isEmpty) None else functions.flatMap(each => reasons.get(each.digest)).headOption
  }

  private def announced(task: Long): List[Announcement] = running.getOrElse(task, Nil)

  private def earlierAttempts(announcement: Announcement): Iterable[Announcement] = {
    val digests = announcement.functions.map(_.digest).toSet
    running.values.flatten.filter { other =>
      other.stage == announcement.stage && other.partition == announcement.partition &&
      other.functions.exists(each => digests.contains(each.digest))
    }
  }

  private def add(executor: String, told: String): Unit = {
    val cause = told.replaceAll("\\s+", " ").stripSuffix(".")
    val ran = running.valuesIterator.flatten.filter(_.executor == executor)
    val suspects = ran.flatMap(_.functions).distinctBy(_.digest).toSeq
    val added = suspects.filterNot(function => reasons.contains(function.digest))
    added.foreach { function =>
      reasons.update(
        function.digest,
        s"it was running when executor $executor was lost ($cause): quarantined to process mode")
    }
    if (added.nonEmpty) {
      log.warn(message(executor, cause, added.map(_.name)))
      PythonEvents.moved(added.map(_.name), reasons(added.head.digest))
    }
  }

  private def message(executor: String, cause: String, names: Seq[String]): String = {
    val which =
      if (names.length == 1) {
        s"the Python function ${names.head} was running there in thread mode. It runs"
      } else {
        s"the Python functions ${names.mkString(", ")} were running there in thread mode. Which of " +
          "them is to blame cannot be told, so all of them run"
      }
    s"Executor $executor was lost ($cause) while $which in process mode for the rest of this " +
      "application. The likely cause is a crash in a native extension: see the executor's log and " +
      "the hs_err_pid file in its working directory, and update or replace the extension. Set " +
      s"${PyFlowConf.EXECUTION_MODE.key}=process for the query to keep a function out of the " +
      "executors from the start."
  }
}

object Quarantine {
  private val log = LoggerFactory.getLogger(classOf[Quarantine])

  @volatile private var current = Option.empty[Quarantine]

  /** Starts with an application, on its driver. */
  def begin(sc: SparkContext): Unit = {
    val quarantine =
      new Quarantine(
        new UnexplainedLosses(Executors.isRegistered, UnexplainedLosses.PatienceMillis))
    sc.addSparkListener(new TaskEnds(quarantine))
    current = Some(quarantine)
  }

  def end(): Unit = current = None

  /** Why the functions that a task is about to run must run in process mode. */
  def announce(announcement: Announcement): Option[String] =
    current.flatMap(_.announce(announcement))

  def withdraw(withdrawal: Withdrawal): Unit = current.foreach(_.withdraw(withdrawal))

  /** Whether functions of the running application were running in an executor. */
  def runIn(executor: String): Boolean = current.exists(_.runIn(executor))

  /** Why one of the functions is in quarantine in the running application. */
  def reasonAgainst(functions: => Seq[FunctionIdentity]): Option[String] =
    current.flatMap(_.reasonAgainst(functions))

  private class TaskEnds(quarantine: Quarantine) extends SparkListener {
    override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
      quarantine.taskEnded(end.taskInfo.taskId, end.reason)
  }
}
