package io.pyflow.admission

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.pyflow.ui.PythonEvents
import org.slf4j.LoggerFactory

/** Tells, once for each reason, which functions an interpreter has refused to load. */
private[admission] object RefusedFunctions {
  private val log = LoggerFactory.getLogger(getClass)
  private val told = ConcurrentHashMap.newKeySet[MovedToWorkers]()

  /** Forgets everything, when an application begins. */
  def clear(): Unit = told.clear()

  /** What this executor has seen, which it tells the driver. */
  def add(moved: MovedToWorkers): Unit =
    if (told.add(moved)) {
      log.warn("{} runs in workers of this executor: {}", names(moved).mkString(", "), moved.reason)
      if (DriverConnection.isOpen) DriverConnection.send(moved) else tell(moved)
    }

  /** What an executor has told the driver. */
  def hear(moved: MovedToWorkers): Unit = if (told.add(moved)) tell(moved)

  private def tell(moved: MovedToWorkers): Unit = PythonEvents.moved(names(moved), moved.reason)

  private def names(moved: MovedToWorkers): Seq[String] = moved.functions.map(_.name)
}
