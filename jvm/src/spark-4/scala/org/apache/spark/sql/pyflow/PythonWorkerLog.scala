package org.apache.spark.sql.pyflow

import org.apache.spark.SparkEnv
import org.apache.spark.storage.{PythonWorkerLogBlockIdGenerator, PythonWorkerLogLine}

/**
 * The log that `python_worker_logs()` of a session reads, in blocks of their own.
 *
 * @param worker what tells the log from others of the session
 */
class PythonWorkerLog(session: String, worker: String) extends AutoCloseable {
  private val writer = SparkEnv.get.blockManager
    .getRollingLogWriter(new PythonWorkerLogBlockIdGenerator(session, worker))
  private var lines = 0L

  def write(json: String): Unit = {
    writer.writeLog(PythonWorkerLogLine(System.currentTimeMillis(), lines, json))
    lines += 1
  }

  override def close(): Unit = writer.close()
}
