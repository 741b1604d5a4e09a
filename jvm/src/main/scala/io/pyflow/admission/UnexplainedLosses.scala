package io.pyflow.admission

import java.util.concurrent.TimeUnit

import scala.collection.mutable

/**
 * Executors that are lost while Spark's listeners have not heard why: Spark starts their tasks elsewhere
 * before it tells them. Used by one thread at a time.
 *
 * @param isRegistered whether an executor is one that Spark schedules on
 * @param patienceMillis how long the cause may stay unknown: Spark does not tell its listeners everything
 *   when they are slower than it
 */
private[admission] class UnexplainedLosses(isRegistered: String => Boolean, patienceMillis: Long) {

  /** When they were first found to be lost, in nanoseconds. */
  private val since = mutable.Map.empty[String, Long]

  /** Of some executors those that are lost: whose cause will not be told any more, and the others. */
  def among(executors: Iterable[String]): (Seq[String], Seq[String]) = {
    val now = System.nanoTime
    val lost = executors.filterNot(isRegistered).toSeq.distinct
    lost.foreach(since.getOrElseUpdate(_, now))
    lost.partition(now - since(_) > TimeUnit.MILLISECONDS.toNanos(patienceMillis))
  }

  /**
   * Whether an executor is lost already. Messages that it has sent before may come after Spark has told of
   * its loss: nothing would ever remove what they add.
   */
  def isLost(executor: String): Boolean = !isRegistered(executor)

  /** The cause is known. */
  def explained(executor: String): Unit = since -= executor
}

private[admission] object UnexplainedLosses {
  val PatienceMillis = 30000L

  val UnknownCause = "unknown cause"
}
