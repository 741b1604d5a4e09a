package io.pyflow.admission

import scala.annotation.tailrec

import org.apache.spark.SparkException
import org.apache.spark.api.plugin.PluginContext

/** An executor's end of the connection on which [[AdmissionMessage]]s go to the driver. */
private[pyflow] object DriverConnection {

  /** Where there is no driver beside the executor. */
  private val Local = "driver"

  private val AskAgainMillis = 100L

  @volatile private var driver = Option.empty[PluginContext]

  /**
   * Called when the executor starts. Spark looks the driver's endpoint up with the first message
   * and never again; in a task, a cancellation would interrupt that and leave the executor without.
   */
  def open(context: PluginContext): Unit = {
    context.send(Withdrawal.ofNothing.encoded)
    driver = Some(context)
  }

  /** Whether the driver is another JVM. */
  def isOpen: Boolean = driver.isDefined

  def executor: String = driver.fold(Local)(_.executorID)

  /** Tells the driver something that it does not answer. */
  def send(message: AdmissionMessage): Unit = driver.foreach(_.send(message.encoded))

  /**
   * The driver's reason for process mode, if it has one.
   *
   * @param waiting done before each question after the first: the driver may not know yet
   */
  @tailrec
  def ask(message: AdmissionMessage)(waiting: => Unit): Option[String] =
    driver.map(_.ask(message.encoded)) match {
      case None | Some("") => None
      case Some(AdmissionMessage.AskAgain) =>
        Thread.sleep(AskAgainMillis)
        waiting
        ask(message)(waiting)
      case Some(reason: String) => Some(reason)
      case Some(other) => throw SparkException.internalError(s"unexpected answer $other")
    }
}
