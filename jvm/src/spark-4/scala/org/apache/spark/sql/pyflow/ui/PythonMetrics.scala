package org.apache.spark.sql.pyflow.ui

import com.codahale.metrics.{Gauge, MetricRegistry}

/** What tasks have measured of functions, among the metrics of the driver. */
private[ui] class PythonMetrics(registry: MetricRegistry) {
  import PythonMetrics._

  private val ofAll = new Shown("")
  private var byFunctions = Map.empty[String, Shown]

  /** Adds to those of all functions and to those of some, which have metrics of their own. */
  def add(functions: String, totals: PythonTotals): Unit = {
    ofAll.add(totals)
    if (byFunctions.size < Most && !byFunctions.contains(functions)) {
      byFunctions = byFunctions.updated(functions, new Shown(s"functions.$functions."))
    }
    byFunctions.get(functions).foreach(_.add(totals))
  }

  private class Shown(prefix: String) {
    @volatile private var totals = PythonTotals()

    Parts.foreach { case (name, part) =>
      val gauge: Gauge[Long] = () => part(totals)
      registry.register(prefix + name, gauge)
    }

    def add(more: PythonTotals): Unit = totals = totals.and(more)
  }
}

private object PythonMetrics {

  /** A program may define functions without end; metrics stay. */
  private val Most = 100

  private val Parts: Seq[(String, PythonTotals => Long)] = Seq(
    "rows" -> (_.rows),
    "inputRows" -> (_.inputRows),
    "lateRows" -> (_.lateRows),
    "calls" -> (_.calls),
    "pythonTime" -> (_.pythonTime),
    "gilWaitTime" -> (_.gilWaitTime),
    "workerTime" -> (_.workerTime),
    "isolatedTasks" -> (_.isolatedTasks),
    "sharedTasks" -> (_.sharedTasks),
    "workerTasks" -> (_.workerTasks))
}
