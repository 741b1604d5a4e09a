package org.apache.spark.sql.pyflow.ui

import scala.collection.immutable.TreeMap

/** Calls over time, in at most a hundred spans of equal length, which double when there are more. */
private[ui] class Timeline {
  import Timeline._

  private var span = ShortestMillis
  private var points = TreeMap.empty[Long, TimePoint]

  def add(time: Long, totals: PythonTotals): Unit = if (totals.calls > 0) {
    put(TimePoint(time, span, totals.calls, totals.pythonTime, totals.gilWaitTime))
    while (points.size > Most) {
      span *= 2
      val finer = points.values
      points = TreeMap.empty
      finer.foreach(put)
    }
  }

  private def put(point: TimePoint): Unit = {
    val begin = point.time / span * span
    val before = points.getOrElse(begin, TimePoint(begin, span, 0, 0, 0))
    points = points.updated(
      begin,
      before.copy(
        calls = before.calls + point.calls,
        pythonTime = before.pythonTime + point.pythonTime,
        gilWaitTime = before.gilWaitTime + point.gilWaitTime))
  }

  def toSeq: Seq[TimePoint] = points.values.toSeq
}

private object Timeline {
  private val ShortestMillis = 1000L
  private val Most = 100
}
