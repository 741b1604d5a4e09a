package io.pyflow.admission

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorRemoved}
import org.apache.spark.sql.pyflow.Executors

/** The executors in whose shared interpreter C code holds the GIL now, as the driver knows them. */
object HeldGils {
  private val reasons = mutable.Map.empty[String, String]

  /** Starts with an application, on its driver. */
  def begin(sc: SparkContext): Unit = synchronized {
    reasons.clear()
    sc.addSparkListener(Removals)
  }

  def add(held: GilHeld): Unit = synchronized {
    held.reason match {
      case Some(reason) if Executors.isRegistered(held.executor) =>
        reasons.update(held.executor, s"$reason (executor ${held.executor})")
      // It has given it up, or is lost.
      case _ => reasons.remove(held.executor)
    }
  }

  /** Why functions should not be planned for the shared interpreter now. */
  def reason: Option[String] = synchronized(reasons.values.headOption)

  private object Removals extends SparkListener {
    override def onExecutorRemoved(removed: SparkListenerExecutorRemoved): Unit =
      add(GilHeld(removed.executorId, None))
  }
}
