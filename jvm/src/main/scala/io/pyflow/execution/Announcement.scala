package io.pyflow.execution

import org.apache.spark.SparkException
import org.apache.spark.sql.pyflow.FunctionIdentity

/**
 * A task tells the driver which functions it is about to run in its executor's JVM.
 *
 * Crosses Spark's RPC as strings, because its serializers need not know the classes of a jar that
 * came with `--jars`.
 *
 * @param id unique in the executor
 * @param task id of the task's attempt, unique in the application
 * @param partition together with the stage, the same for all attempts of a task
 */
case class Announcement(
    executor: String,
    id: Long,
    task: Long,
    stage: Int,
    partition: Int,
    functions: Seq[FunctionIdentity]) {

  def encoded: Array[String] =
    Array(executor, id.toString, task.toString, stage.toString, partition.toString) ++
      functions.flatMap(function => Seq(function.name, function.digest))
}

object Announcement {

  def decoded(message: Array[String]): Announcement = message match {
    case Array(executor, id, task, stage, partition, functions @ _*) =>
      val identities = functions.grouped(2).map(pair => FunctionIdentity(pair.head, pair.last))
      Announcement(executor, id.toLong, task.toLong, stage.toInt, partition.toInt, identities.toSeq)
    case other => throw SparkException.internalError(s"${other.length} strings are no announcement")
  }
}

/** The functions of an announcement have ended, with their task. Crosses RPC as numbers. */
case class Withdrawal(task: Long, id: Long) {
  def encoded: Array[Long] = Array(task, id)
}

object Withdrawal {
  val ofNothing: Withdrawal = Withdrawal(-1, -1)

  def decoded(message: Array[Long]): Withdrawal = Withdrawal(message(0), message(1))
}
