package org.apache.spark.sql.pyflow

import scala.util.control.NonFatal

import org.apache.spark.SparkEnv
import org.apache.spark.storage.{PythonWorkerLogBlockIdGenerator, PythonWorkerLogLine, RollingLogWriter}
import org.slf4j.LoggerFactory

import io.pyflow.bridge.SessionLogs

/**
 * What the functions of one operator log in one task, for `python_worker_logs()` of their session.
 * Spark keeps it in blocks of its own, as it does the log of a worker. A line that cannot be kept is
 * no reason for the task to fail.
 */
class SessionLog(session: String) extends AutoCloseable {
  import SessionLog._

  private var writer = Option.empty[RollingLogWriter]
  private var lines = 0L
  private var closed = false

  /** What Python knows it by. */
  val number: Long = SessionLogs.open(write(_))

  private def write(json: String): Unit = synchronized {
    if (!closed) {
      orWarn {
        val blocks = writer.getOrElse(newWriter())
        writer = Some(blocks)
        blocks.writeLog(PythonWorkerLogLine(System.currentTimeMillis(), lines, json))
        lines += 1
      }
    }
  }

  private def newWriter(): RollingLogWriter =
    SparkEnv.get.blockManager
      .getRollingLogWriter(new PythonWorkerLogBlockIdGenerator(session, s"thread-$number"))

  override def close(): Unit = {
    SessionLogs.close(number)
    synchronized {
      closed = true
      orWarn(writer.foreach(_.close()))
      writer = None
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
