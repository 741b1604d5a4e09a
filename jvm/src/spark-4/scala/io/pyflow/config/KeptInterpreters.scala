package io.pyflow.config

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.runtime.{MicroBatchExecution, StreamExecution}

/** Isolated interpreters that stay with subtasks of streaming queries, from batch to batch. */
sealed trait KeptInterpreters

object KeptInterpreters {

  /** Of its own subtask, for a task of a streaming query. */
  case object OfSubtasks extends KeptInterpreters

  /** One of those that queries had which have ended, as long as there are any. */
  case class OfEnded(queries: Seq[String]) extends KeptInterpreters

  /** What a value of the setting says. */
  def of(value: String): KeptInterpreters =
    if (value == "subtasks") OfSubtasks else OfEnded(value.split(',').map(_.trim).toSeq)

  /** What the interpreter of a task is kept for; None for one that is not of a streaming query. */
  def owner(task: TaskContext): Option[String] =
    Option(task.getLocalProperty(StreamExecution.QUERY_ID_KEY))
      .filter(_ => Option(task.getLocalProperty(MicroBatchExecution.BATCH_ID_KEY)).isDefined)
      .map(query => s"${owners(query)}${task.partitionId()}")

  /** What the owners of a query begin with. */
  def owners(query: String): String = s"$query/"
}
