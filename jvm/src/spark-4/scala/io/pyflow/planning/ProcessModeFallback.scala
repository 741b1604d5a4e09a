package io.pyflow.planning

import java.util.{Collections, LinkedHashMap, Map => JavaMap}

import org.apache.spark.sql.connector.write.BatchWrite
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.internal.SQLConf
import org.slf4j.LoggerFactory

import io.pyflow.config.PyFlowConf
import io.pyflow.execution.fallback.ProcessModeExec
import io.pyflow.execution.sources.AnnotatedWrite

/** Plans functions for process mode, with the reason. */
object ProcessModeFallback {
  private val log = LoggerFactory.getLogger(getClass)

  /**
   * Puts the reason above an operator, and into the log.
   *
   * @param functions as the plan shows them
   * @param names for messages
   * @throws ThreadModeUnavailableException if the session wants no process mode
   */
  def apply(
      functions: Seq[String],
      reason: String,
      names: String,
      operator: => SparkPlan): ProcessModeExec = {
    tell(functions, reason, names)
    ProcessModeExec(functions, reason, operator)
  }

  /** A write with the reason; Spark looks for the operator of a stream's sink at the plan's top. */
  def write(function: String, reason: String, name: String, write: BatchWrite): BatchWrite = {
    tell(Seq(function), reason, name)
    new AnnotatedWrite(write, s"(ProcessMode [$function], reason: $reason)")
  }

  private def tell(functions: Seq[String], reason: String, names: String): Unit = {
    if (!PyFlowConf.mayFallBack(SQLConf.get)) {
      throw new ThreadModeUnavailableException(names, reason)
    }
    if (notYetLogged(functions)) {
      log.warn("{} runs in process mode: {}", names: Any, reason: Any)
    }
  }

  /** Adaptive execution plans the same functions again and again; one line is enough. */
  private def notYetLogged(functions: Seq[String]): Boolean =
    Option(logged.put(functions, true)).isEmpty

  private val logged: JavaMap[Seq[String], Boolean] =
    Collections.synchronizedMap(new LinkedHashMap[Seq[String], Boolean] {
      override protected def removeEldestEntry(e: JavaMap.Entry[Seq[String], Boolean]): Boolean =
        size > 1000
    })
}
