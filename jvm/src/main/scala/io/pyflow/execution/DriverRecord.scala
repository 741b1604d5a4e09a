package io.pyflow.execution

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.sql.pyflow.FunctionIdentity

/**
 * Keeps the driver's record of the functions that run in this executor. A crash in native code
 * takes the executor with it, so that only what the driver already knows can tell what ran there.
 *
 * One round trip before an operator's functions first run in a task, and a message when the task
 * has ended. In local mode there is no driver that would outlive the crash, and no record.
 */
object DriverRecord {
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
   * Announces functions of a task, until the task ends. Where the answer is a reason for process
   * mode, nothing is recorded and the functions must not run in this JVM.
   */
  def announce(task: TaskContext, functions: Seq[FunctionIdentity]): Option[String] =
    driver.flatMap { context =>
      val announcement = Announcement(
        context.executorID,
        announcements.incrementAndGet(),
        task.taskAttemptId(),
        task.stageId(),
        task.partitionId(),
        functions)
      context.ask(announcement.encoded) match {
        case "" =>
          val withdrawal = Withdrawal(announcement.task, announcement.id)
          task.addTaskCompletionListener[Unit](_ => context.send(withdrawal.encoded))
          None
        case reason: String => Some(reason)
        case other => throw SparkException.internalError(s"unexpected answer $other")
      }
    }
}
