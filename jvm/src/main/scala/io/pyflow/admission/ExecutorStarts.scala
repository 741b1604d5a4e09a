package io.pyflow.admission

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorRemoved}
import org.apache.spark.sql.pyflow.Executors
import org.slf4j.LoggerFactory

/**
 * The starts of CPython in the executors of an application. Where one has failed, or its executor was
 * lost meanwhile, all functions run in process mode from then on: every executor would fail alike.
 *
 * @param losses of which Spark has not told the cause yet
 */
class ExecutorStarts(losses: UnexplainedLosses) {
  import ExecutorStarts._

  private val starting = mutable.Set.empty[String]
  private var failure = Option.empty[String]

  /**
   * Why CPython must not start in an executor that is about to start it; `AdmissionMessage.AskAgain` as
   * long as nobody knows why another one was lost meanwhile.
   */
  def begins(executor: String): Option[String] = synchronized {
    val (unexplained, recent) = losses.among(starting)
    unexplained.foreach(lost(_, UnexplainedLosses.UnknownCause))
    val reason = failure.orElse(Option.when(recent.nonEmpty)(AdmissionMessage.AskAgain))
    if (reason.isEmpty) {
      starting += executor
    }
    reason
  }

  def ended(executor: String, failed: Option[String]): Unit = synchronized {
    forget(executor)
    failed.foreach(reason => add(executor, s"$reason (executor $executor)"))
  }

  def executorRemoved(executor: String, cause: String): Unit = synchronized {
    if (starting.contains(executor)) {
      if (EndedFromOutside(cause)) forget(executor) else lost(executor, cause)
    }
  }

  def reason: Option[String] = synchronized(failure)

  private def forget(executor: String): Unit = {
    starting -= executor
    losses.explained(executor)
  }

  private def lost(executor: String, cause: String): Unit = {
    forget(executor)
    add(
      executor,
      s"executor $executor was lost while the embedded Python started " +
        s"(${cause.replaceAll("\\s+", " ").stripSuffix(".")}): what this Python imports when it " +
        "starts, such as sitecustomize or .pth files, may crash inside a JVM")
  }

  private def add(executor: String, reason: String): Unit = if (failure.isEmpty) {
    failure = Some(reason)
    log.warn(
      s"Python functions run in process mode for the rest of this application: $reason. See the " +
        s"log of executor $executor, and run `pyflow doctor` there.")
  }
}

object ExecutorStarts {
  private val log = LoggerFactory.getLogger(classOf[ExecutorStarts])

  @volatile private var current = Option.empty[ExecutorStarts]

  /** Starts with an application, on its driver. */
  def begin(sc: SparkContext): Unit = {
    val starts =
      new ExecutorStarts(
        new UnexplainedLosses(Executors.isRegistered, UnexplainedLosses.PatienceMillis))
    sc.addSparkListener(new Removals(starts))
    current = Some(starts)
  }

  def end(): Unit = current = None

  def begins(executor: String): Option[String] = current.flatMap(_.begins(executor))

  def ended(executor: String, failure: Option[String]): Unit =
    current.foreach(_.ended(executor, failure))

  /** Why no function can run in thread mode in the running application. */
  def reason: Option[String] = current.flatMap(_.reason)

  private class Removals(starts: ExecutorStarts) extends SparkListener {
    override def onExecutorRemoved(removed: SparkListenerExecutorRemoved): Unit =
      starts.executorRemoved(removed.executorId, removed.reason)
  }
}
