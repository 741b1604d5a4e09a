package org.apache.spark.sql.pyflow

import java.util.concurrent.{Executors, ScheduledFuture, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.spark.{BarrierTaskContext, TaskContext}
import org.json4s.JsonAST._

/** What is known of a task, differently in each version of Spark. */
private[pyflow] object TaskContexts {
  def cpus(context: TaskContext): BigDecimal = context.cpus()

  /** What Python is told, under the names that later versions have for it. */
  def toJson(context: TaskContext, port: Int, secret: Option[String]): JValue = JObject(
    "isBarrier" -> JBool(context.isInstanceOf[BarrierTaskContext]),
    "connInfo" -> JInt(port),
    "secret" -> secret.fold[JValue](JNull)(JString(_)),
    "stageId" -> JInt(context.stageId()),
    "partitionId" -> JInt(context.partitionId()),
    "attemptNumber" -> JInt(context.attemptNumber()),
    "taskAttemptId" -> JInt(context.taskAttemptId()),
    "cpus" -> JInt(context.cpus()),
    "resources" -> JObject(context.resources().toList.map { case (name, each) =>
      name -> JObject(
        "name" -> JString(each.name),
        "addresses" -> JArray(each.addresses.map(JString(_)).toList))
    }),
    "localProperties" -> JObject(context.getLocalProperties.asScala.toList.map {
      case (key, value) => key -> JString(value)
    }))

  private val PollMillis = 100L

  private lazy val watch = Executors.newSingleThreadScheduledExecutor { (polling: Runnable) =>
    val thread = new Thread(polling, "pyflow-interrupted-tasks")
    thread.setDaemon(true)
    thread
  }

  /** Spark 4.1 tells nobody: it has to be asked. */
  def onInterruption(context: TaskContext)(work: () => Unit): Unit = {
    lazy val polling: ScheduledFuture[_] = watch.scheduleWithFixedDelay(
      () => if (context.isInterrupted()) { polling.cancel(false); work() },
      PollMillis,
      PollMillis,
      TimeUnit.MILLISECONDS)
    polling
    context.addTaskCompletionListener[Unit](_ => polling.cancel(false))
  }
}
