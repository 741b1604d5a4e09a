package org.apache.spark.sql.pyflow

import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.TaskContext
import org.apache.spark.api.python.PythonWorkerUtils
import org.json4s.JsonAST.JValue
import org.json4s.jackson.JsonMethods.parse

/** What is known of a task, differently in each version of Spark. */
private[pyflow] object TaskContexts {
  def cpus(context: TaskContext): BigDecimal = context.cpuAmount()

  /** What Python is told. */
  def toJson(context: TaskContext, port: Int, secret: Option[String]): JValue = {
    val bytes = new ByteArrayOutputStream
    PythonWorkerUtils.writeTaskContext(context, Right(port), secret, new DataOutputStream(bytes))
    val lengthPrefix = 4
    parse(new String(bytes.toByteArray.drop(lengthPrefix), UTF_8))
  }

  def onInterruption(context: TaskContext)(work: () => Unit): Unit =
    context.addTaskInterruptListener((_, _) => work())
}
