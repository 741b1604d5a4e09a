package io.pyflow.admission

import org.apache.spark.{SparkContext, SparkException}

/** The driver's end of the connections on which executors send [[AdmissionMessage]]s. */
object AdmissionEndpoint {

  /** Starts with an application, on its driver. */
  def begin(sc: SparkContext): Unit = {
    ContendedFunctions.clear()
    SharedOnlyFunctions.clear()
    RefusedFunctions.clear()
    // Hears of a lost task first: it asks what ran there, which the quarantine then forgets.
    ExecutorStarts.begin(sc)
    Quarantine.begin(sc)
    HeldGils.begin(sc)
  }

  def end(): Unit = {
    Quarantine.end()
    ExecutorStarts.end()
  }

  /**
   * Answers an executor: the empty string, a reason for process mode, or to ask again, if it waits for
   * an answer.
   */
  def receive(message: AnyRef): AnyRef = message match {
    case strings: Array[String] =>
      AdmissionMessage.decoded(strings) match {
        case announcement: Announcement => reasonAgainst(announcement).getOrElse("")
        case withdrawal: Withdrawal =>
          Quarantine.withdraw(withdrawal)
          None.orNull
        case contention: Contention =>
          ContendedFunctions.add(contention)
          None.orNull
        case held: GilHeld =>
          HeldGils.add(held)
          None.orNull
        case moved: MovedToShared =>
          SharedOnlyFunctions.add(moved)
          None.orNull
        case moved: MovedToWorkers =>
          RefusedFunctions.hear(moved)
          None.orNull
        case StartBegins(executor) => ExecutorStarts.begins(executor).getOrElse("")
        case StartEnded(executor, failure) =>
          ExecutorStarts.ended(executor, failure)
          None.orNull
      }
    case other => throw SparkException.internalError(s"unexpected message $other")
  }

  private def reasonAgainst(announcement: Announcement): Option[String] =
    ContendedFunctions
      .reasonAgainst(announcement.auto, announcement.functions)
      .orElse(Quarantine.announce(announcement))
}
