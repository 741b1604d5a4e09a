package io.pyflow.execution.task

import java.util.concurrent.{CompletableFuture, Executors}

import scala.util.control.NonFatal

import org.apache.spark.sql.pyflow.PythonWorkerLog
import org.slf4j.LoggerFactory

import io.pyflow.bridge.SessionLogs

/**
 * The log of one operator's functions in one task, for `python_worker_logs()` of their session.
 * A line that cannot be kept is no reason for the task to fail.
 */
private[task] class SessionLog(session: String) extends AutoCloseable {
  import SessionLog._

  private var blocks = Option.empty[PythonWorkerLog]
  private var closed = false

  /** The number by which Python knows the log. */
  val number: Long = SessionLogs.open(write(_))

  private def write(json: String): Unit = onWriter {
    if (!closed) {
      val opened = blocks.getOrElse(new PythonWorkerLog(session, s"thread-$number"))
      blocks = Some(opened)
      opened.write(json)
    }
  }

  override def close(): Unit = {
    SessionLogs.close(number)
    onWriter {
      closed = true
      blocks.foreach(_.close())
      blocks = None
    }
  }

  /**
   * Runs it on the thread that writes all logs, and waits for its end. The thread of a cancelled
   * task is interrupted, which closes the file that it writes and ends its messages to the driver.
   */
  private def onWriter(work: => Unit): Unit =
    CompletableFuture.runAsync(() => orWarn(work), writer).join()

  private def orWarn(work: => Unit): Unit =
    try work
    catch {
      case NonFatal(e) =>
        log.warn(s"What functions log for session $session could not be kept", e)
    }
}

private object SessionLog {
  private val log = LoggerFactory.getLogger(classOf[SessionLog])

  private lazy val writer = Executors.newSingleThreadExecutor { work =>
    val thread = new Thread(work, "pyflow-session-logs")
    thread.setDaemon(true)
    thread
  }
}
