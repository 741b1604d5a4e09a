package org.apache.spark.sql.pyflow

import org.apache.spark.SparkEnv
import org.apache.spark.storage.{PythonWorkerLogBlockIdGenerator, PythonWorkerLogLine, RollingLogWriter}

import io.pyflow.bridge.SessionLogs

/**
 * What the functions of one operator log in one task, for `python_worker_logs()` of their session.
 * Spark keeps it in blocks of its own, as it does the log of a worker.
 */
class SessionLog(session: String) extends AutoCloseable {
  private var writer = Option.empty[RollingLogWriter]
  private var lines = 0L
  private var closed = false

  /** What Python knows it by. */
  val number: Long = SessionLogs.open(write(_))

  private def write(json: String): Unit = synchronized {
    if (!closed) {
      val blocks = writer.getOrElse(newWriter())
      writer = Some(blocks)
      blocks.writeLog(PythonWorkerLogLine(System.currentTimeMillis(), lines, json))
      lines += 1
    }
  }

  private def newWriter(): RollingLogWriter =
    SparkEnv.get.blockManager
      .getRollingLogWriter(new PythonWorkerLogBlockIdGenerator(session, s"thread-$number"))

  override def close(): Unit = {
    SessionLogs.close(number)
    synchronized {
      closed = true
      writer.foreach(_.close())
      writer = None
    }
  }
}
