package io.pyflow.connectors

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution
import org.apache.spark.sql.pyflow.Watermarks

/**
 * Leaves idle sources out of the watermark of a query, as Flink does (`withIdleness`).
 *
 * The watermark of a query is the least of its sources', so that one without rows holds those of all
 * others back. A source whose event time has an idle time-out in its metadata
 * ([[IdleSources.Timeout]], in milliseconds) and that had no rows for so long is left out of the
 * least, until it has rows again. The watermark never moves back: what such rows have missed makes
 * them late. Where all sources are idle, those count that became so last, as if the watermark had
 * been looked at in between.
 *
 * @param query the id of a query
 */
private[connectors] class IdleSources(query: String) extends AdaptiveSparkPlanHelper {
  private val start = System.currentTimeMillis
  private val sources = mutable.Map.empty[ExprId, IdleSources.Source]
  private var batch = -1L

  /**
   * To be called by the thread of the query, before it looks for rows of the next batch.
   *
   * Spark simulates the watermarks of a query's operators for the batch to come as soon as it has
   * looked for its rows, and refuses another one for the same batch. So the watermark moves right
   * behind a batch, or else one more batch is to run first.
   *
   * @return whether this is to be
   */
  def advance(): Boolean = {
    val session = SparkSession.active
    val now = System.currentTimeMillis
    val last = Watermarks.lastBatch(session, query).filter(_.currentBatchId > batch)
    last.ifPresent(read(_, now))
    val lastIdle = sources.values.map(_.idleFrom).maxOption.getOrElse(IdleSources.Never)
    val counted =
      sources.values.filter(source => source.idleFrom > now || source.idleFrom == lastIdle)
    if (counted.size == sources.size) false
    else {
      val reached = counted.map(_.watermark).min
      val isBehind = reached > Watermarks.next(session, query).orElse(reached)
      if (isBehind && last.isPresent) Watermarks.raise(session, query, reached)
      isBehind && last.isEmpty
    }
  }

  private def read(last: IncrementalExecution, now: Long): Unit = {
    batch = last.currentBatchId
    collect(last.executedPlan) { case marked: EventTimeWatermarkExec => marked }.foreach { marked =>
      val source =
        sources.getOrElseUpdate(marked.eventTime.exprId, new IdleSources.Source(marked, start))
      val rows = marked.eventTimeStats.value
      if (rows.count > 0) {
        source.watermark = source.watermark.max(rows.max - marked.delayMs)
        source.lastRows = now
      }
    }
  }
}

private[connectors] object IdleSources {

  /** What the metadata of an event time has the idle time-out of its source by. */
  val Timeout = "pyflow.idle-timeout"

  private val Never = Long.MaxValue

  /** @param lastRows when the source has had rows, in milliseconds since 1970 */
  private class Source(marked: EventTimeWatermarkExec, var lastRows: Long) {
    private val metadata = marked.eventTime.metadata
    private val timeout =
      if (metadata.contains(Timeout)) metadata.getLong(Timeout) else Never

    // As Spark takes the watermark of a source that has had no rows.
    var watermark = 0L

    /** When the source is idle if no rows come, in milliseconds since 1970. */
    def idleFrom: Long = if (timeout == Never) Never else lastRows + timeout
  }
}
