package org.apache.spark.sql.pyflow

import scala.jdk.CollectionConverters._
import scala.math.BigDecimal.RoundingMode

import org.apache.spark.{BarrierTaskContext, SparkConf, SparkEnv, TaskContext}
import org.apache.spark.internal.config.TASK_MAX_FAILURES
import org.apache.spark.sql.execution.streaming.continuous.ContinuousExecution
import org.json4s.JsonAST.{JNull, JValue}
import org.slf4j.MDC

/** Facts about a running task that Spark keeps to its own packages. */
object RunningTask {
  private val NoPort = -1

  /** Spark's own rendering, so that TaskContext in Python knows what it knows in a worker. */
  def toJson(context: TaskContext): JValue = context match {
    case barrier: BarrierTaskContext =>
      val server = new BarrierServer(barrier)
      server.start()
      TaskContexts.toJson(context, server.port, Some(server.secret))
    case _ =>
      TaskContexts.toJson(context, NoPort, None).transformField { case ("connInfo", _) =>
        "connInfo" -> JNull
      }
  }

  /** Of a task, with the number of its stage behind it: the stages of a job share these properties. */
  private val Subtasks = "pyflow.subtasks.of.stage."

  /** Has functions know how many tasks their stage has; Spark sends them the task's properties. */
  def tellSubtasks(context: TaskContext): Unit =
    context.getLocalProperties.setProperty(
      s"$Subtasks${context.stageId()}",
      context.numPartitions().toString)

  /** Broadcast variables and files of other applications in this JVM have the same names. */
  def applicationId: String = SparkEnv.get.conf.getAppId

  /**
   * The fields of a task in Spark's structured logs, by the names of its `LogKeys`, and those that the
   * application has added (`mdc.*`), which Spark has put into the context of the task's own thread.
   */
  def logFields(context: TaskContext, functions: String): Map[String, String] = {
    val ofThread = Option(MDC.getCopyOfContextMap).fold(Map.empty[String, String])(_.asScala.toMap)
    ofThread ++ Map(
      "app_id" -> applicationId,
      "executor_id" -> SparkEnv.get.executorId,
      "stage_id" -> context.stageId().toString,
      "stage_attempt_id" -> context.stageAttemptNumber().toString,
      "partition_id" -> context.partitionId().toString,
      "task_id" -> context.taskAttemptId().toString,
      "function_name" -> functions)
  }

  /** What process mode adds to the environment of a task's worker that functions may look at. */
  def environment(context: TaskContext): Map[String, String] = {
    val env = SparkEnv.get
    val always = Map(
      "SPARK_LOCAL_DIRS" -> env.blockManager.diskBlockManager.localDirs.mkString(","),
      "SPARK_PYTHON_RUNTIME" -> "PYTHON_WORKER")
    if (env.conf.contains("spark.executorEnv.OMP_NUM_THREADS")) {
      always
    } else {
      always + ("OMP_NUM_THREADS" -> threads(TaskContexts.cpus(context)))
    }
  }

  /** How many threads Spark lets OpenMP start in a worker, unless the application's environment says so. */
  def threadsOfLibraries(conf: SparkConf): String =
    threads(BigDecimal(conf.get("spark.task.cpus", "1")))

  private def threads(cpus: BigDecimal): String =
    cpus.setScale(0, RoundingMode.CEILING).toInt.toString

  /** Runs something that belongs to a task on whatever thread this is. */
  def in[T](context: TaskContext)(work: => T): T = {
    val before = TaskContext.get()
    if (before eq context) {
      work
    } else {
      TaskContext.setTaskContext(context)
      try work
      finally if (before == null) TaskContext.unset() else TaskContext.setTaskContext(before)
    }
  }

  /** Whether Spark makes another attempt at a task when this one fails. */
  def isTriedAgain(context: TaskContext): Boolean = {
    val conf = SparkEnv.get.conf
    val attempts = conf.get("spark.master", "") match {
      case LocalWithAttempts(count) => count.toInt
      case "local" | LocalOnce() => 1
      case _ => conf.get(TASK_MAX_FAILURES)
    }
    val continuous = context.getLocalProperty(ContinuousExecution.START_EPOCH_KEY) != null
    context.attemptNumber() + 1 < attempts && !continuous
  }

  private val LocalWithAttempts = """local\[.+,\s*(\d+)\s*]""".r
  private val LocalOnce = """local\[[^,]+]""".r

  /** Does something when a task is cancelled, at once if it is already. */
  def onCancellation(context: TaskContext)(work: => Unit): Unit =
    TaskContexts.onInterruption(context)(() => work)

  /** Ends a task that has been killed, in the way Spark wants it to end. */
  def throwIfKilled(context: TaskContext): Unit = context.killTaskIfInterrupted()
}
