package org.apache.spark.sql.pyflow

import org.apache.spark.sql.{Dataset, Row}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.classic.{Dataset => ClassicDataset}

/** The watermark of rows. Called by pyflow/table/relations/data_streams.py. */
object EventTimes {

  /**
   * The rows without their watermark, so that another one may be defined; null where an operator that
   * keeps state may need it.
   */
  def without(rows: Dataset[Row]): Dataset[Row] = {
    val dataset = rows.asInstanceOf[ClassicDataset[Row]]
    val plan = dataset.queryExecution.analyzed
    if (QueryParts.keepsState(plan)) {
      null
    } else {
      val unwatched = plan.transform { case watermark: EventTimeWatermark => watermark.child }
      ClassicDataset.ofRows(dataset.sparkSession, unwatched)
    }
  }
}
