package io.pyflow.config

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.runtime.{MicroBatchExecution, StreamExecution}

/** Isolated interpreters that stay with the subtasks of streaming queries, from batch to batch. */
object KeptInterpreters {

  /** Local property of a job that ends what queries have: their ids, separated by commas. */
  private val EndedQueries = "pyflow.ended.queries"

  /** What the interpreter of a task is kept for; None for one that is not of a streaming query. */
  def owner(task: TaskContext): Option[String] =
    Option(task.getLocalProperty(StreamExecution.QUERY_ID_KEY))
      .filter(_ => Option(task.getLocalProperty(MicroBatchExecution.BATCH_ID_KEY)).isDefined)
      .map(query => s"${owners(query)}${task.partitionId()}")

  /** What the names of the owners begin with whose interpreters a task ends. */
  def ended(task: TaskContext): Seq[String] =
    Option(task.getLocalProperty(EndedQueries)).toSeq.flatMap(_.split(',')).map(owners)

  private def owners(query: String): String = s"$query/"
}
