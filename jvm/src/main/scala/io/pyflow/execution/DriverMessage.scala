package io.pyflow.execution

import org.apache.spark.SparkException
import org.apache.spark.sql.pyflow.FunctionIdentity

/**
 * What an executor tells the driver of the functions that run in its JVM. Crosses Spark's RPC as
 * strings, because its serializers need not know the classes of a jar that came with `--jars`.
 */
sealed trait DriverMessage {
  def encoded: Array[String]
}

object DriverMessage {
  private[execution] val Announced = "announced"
  private[execution] val Withdrawn = "withdrawn"
  private[execution] val Contended = "contended"
  private[execution] val Held = "held"
  private[execution] val StartBegun = "start begun"
  private[execution] val StartDone = "start done"

  def decoded(message: Array[String]): DriverMessage = message match {
    case Array(Announced, executor, id, task, stage, partition, auto, functions @ _*) =>
      Announcement(
        executor,
        id.toLong,
        task.toLong,
        stage.toInt,
        partition.toInt,
        identities(functions),
        auto.toBoolean)
    case Array(Withdrawn, task, id) => Withdrawal(task.toLong, id.toLong)
    case Array(Contended, waitPercent, functions @ _*) =>
      Contention(waitPercent.toInt, identities(functions))
    case Array(Held, executor, reason @ _*) => GilHeld(executor, reason.headOption)
    case Array(StartBegun, executor) => StartBegins(executor)
    case Array(StartDone, executor, failure @ _*) => StartEnded(executor, failure.headOption)
    case other => throw SparkException.internalError(s"${other.length} strings are no message")
  }

  private[execution] def strings(functions: Seq[FunctionIdentity]): Seq[String] =
    functions.flatMap(function => Seq(function.name, function.digest))

  private def identities(strings: Seq[String]): Seq[FunctionIdentity] =
    strings.grouped(2).map(pair => FunctionIdentity(pair.head, pair.last)).toSeq
}

/**
 * A task is about to run functions.
 *
 * @param id unique in the executor
 * @param task id of the task's attempt, unique in the application
 * @param partition together with the stage, the same for all attempts of a task
 * @param auto whether the session leaves it to PyFlow where the functions run
 */
case class Announcement(
    executor: String,
    id: Long,
    task: Long,
    stage: Int,
    partition: Int,
    functions: Seq[FunctionIdentity],
    auto: Boolean)
  extends DriverMessage {

  override def encoded: Array[String] =
    Array(
      DriverMessage.Announced,
      executor,
      id.toString,
      task.toString,
      stage.toString,
      partition.toString,
      auto.toString) ++ DriverMessage.strings(functions)
}

/** The functions of an announcement have ended, with their task. */
case class Withdrawal(task: Long, id: Long) extends DriverMessage {
  override def encoded: Array[String] =
    Array(DriverMessage.Withdrawn, task.toString, id.toString)
}

object Withdrawal {
  val ofNothing: Withdrawal = Withdrawal(-1, -1)
}

/**
 * Tasks that ran the functions of an operator have kept each other waiting for the GIL.
 *
 * @param waitPercent how much of their time they waited, in percent
 */
case class Contention(waitPercent: Int, functions: Seq[FunctionIdentity]) extends DriverMessage {
  override def encoded: Array[String] =
    Array(DriverMessage.Contended, waitPercent.toString) ++ DriverMessage.strings(functions)
}

/** CPython is about to start in an executor. */
case class StartBegins(executor: String) extends DriverMessage {
  override def encoded: Array[String] = Array(DriverMessage.StartBegun, executor)
}

/**
 * It runs, or could not be started.
 *
 * @param failure the reason for process mode
 */
case class StartEnded(executor: String, failure: Option[String]) extends DriverMessage {
  override def encoded: Array[String] = Array(DriverMessage.StartDone, executor) ++ failure
}

/**
 * C code in an executor holds the GIL of the shared interpreter, or has given it up.
 *
 * @param reason for process mode, as long as it does
 */
case class GilHeld(executor: String, reason: Option[String]) extends DriverMessage {
  override def encoded: Array[String] = Array(DriverMessage.Held, executor) ++ reason
}
