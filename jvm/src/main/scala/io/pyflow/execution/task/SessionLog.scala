package io.pyflow.execution.task

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

  private def write(json: String): Unit = synchronized {
    if (!closed) {
      orWarn {
        val opened = blocks.getOrElse(new PythonWorkerLog(session, s"thread-$number"))
        blocks = Some(opened)
        opened.write(json)
      }
    }
  }

  override def close(): Unit = {
    SessionLogs.close(number)
    synchronized {
      closed = true
      orWarn(blocks.foreach(_.close()))
      blocks = None
    }
  }

  private def orWarn(work: => Unit): Unit =
    try work
    catch {
      case NonFatal(e) =>
        log.warn(s"What functions log for session $session could not be kept", e)
    }
}

private object SessionLog {
  private val log = LoggerFactory.getLogger(classOf[SessionLog])
}
