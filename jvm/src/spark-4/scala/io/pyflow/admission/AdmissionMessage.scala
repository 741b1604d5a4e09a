package io.pyflow.admission

import org.apache.spark.SparkException

/**
 * A message of an executor to the driver about the functions in its JVM. Crosses Spark's RPC as
 * strings, because its serializers need not know the classes of a jar that came with `--jars`.
 */
sealed trait AdmissionMessage {
  def encoded: Array[String]
}

object AdmissionMessage {

  /** The answer where the driver does not know yet. */
  private[admission] val AskAgain = "ask again"

  /** The answer to a start of CPython beside which no functions may run. */
  private[admission] val Alone = "alone"

  private[admission] val Announced = "announced"
  private[admission] val Withdrawn = "withdrawn"
  private[admission] val Contended = "contended"
  private[admission] val Held = "held"
  private[admission] val Moved = "moved"
  private[admission] val Refused = "refused"
  private[admission] val StartBegun = "start begun"
  private[admission] val StartDone = "start done"

  def decoded(message: Array[String]): AdmissionMessage = message match {
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
    case Array(Moved, digest) => MovedToShared(digest)
    case Array(Refused, reason, functions @ _*) => MovedToWorkers(reason, identities(functions))
    case Array(StartBegun, executor) => StartBegins(executor)
    case Array(StartDone, executor, failure @ _*) => StartEnded(executor, failure.headOption)
    case other => throw SparkException.internalError(s"${other.length} strings are no message")
  }

  private[admission] def strings(functions: Seq[FunctionIdentity]): Seq[String] =
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
 * @param auto whether the session's execution mode is `auto`
 */
case class Announcement(
    executor: String,
    id: Long,
    task: Long,
    stage: Int,
    partition: Int,
    functions: Seq[FunctionIdentity],
    auto: Boolean)
  extends AdmissionMessage {

  override def encoded: Array[String] =
    Array(
      AdmissionMessage.Announced,
      executor,
      id.toString,
      task.toString,
      stage.toString,
      partition.toString,
      auto.toString) ++ AdmissionMessage.strings(functions)
}

/** The functions of an announcement have ended, with their task. */
case class Withdrawal(task: Long, id: Long) extends AdmissionMessage {
  override def encoded: Array[String] =
    Array(AdmissionMessage.Withdrawn, task.toString, id.toString)
}

object Withdrawal {
  val ofNothing: Withdrawal = Withdrawal(-1, -1)
}

/**
 * Tasks that ran the functions of an operator have kept each other waiting for the GIL.
 *
 * @param waitPercent how much of their time they waited, in percent
 */
case class Contention(waitPercent: Int, functions: Seq[FunctionIdentity]) extends AdmissionMessage {
  override def encoded: Array[String] =
    Array(AdmissionMessage.Contended, waitPercent.toString) ++ AdmissionMessage.strings(functions)
}

/** CPython is about to start in an executor, or its first interpreter with a GIL of its own. */
case class StartBegins(executor: String) extends AdmissionMessage {
  override def encoded: Array[String] = Array(AdmissionMessage.StartBegun, executor)
}

/**
 * It runs, with the interpreters that are made ahead of tasks, or could not be started.
 *
 * @param failure the reason for process mode
 */
case class StartEnded(executor: String, failure: Option[String]) extends AdmissionMessage {
  override def encoded: Array[String] = Array(AdmissionMessage.StartDone, executor) ++ failure
}

/**
 * C code in an executor holds the GIL of the shared interpreter, or has given it up.
 *
 * @param reason for process mode, as long as it does
 */
case class GilHeld(executor: String, reason: Option[String]) extends AdmissionMessage {
  override def encoded: Array[String] = Array(AdmissionMessage.Held, executor) ++ reason
}

/**
 * The functions of an operator have moved to the shared interpreter, where their imports need it.
 *
 * @param digest of the functions
 */
case class MovedToShared(digest: String) extends AdmissionMessage {
  override def encoded: Array[String] = Array(AdmissionMessage.Moved, digest)
}

/** The functions of an operator have moved to the workers of an executor, whose interpreter refuses them. */
case class MovedToWorkers(reason: String, functions: Seq[FunctionIdentity])
  extends AdmissionMessage {
  override def encoded: Array[String] =
    Array(AdmissionMessage.Refused, reason) ++ AdmissionMessage.strings(functions)
}
