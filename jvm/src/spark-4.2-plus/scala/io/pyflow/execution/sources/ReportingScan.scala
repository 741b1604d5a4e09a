package io.pyflow.execution.sources

import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanExecBase

/** A scan that shows the metrics which its source has on the driver. */
trait ReportingScan extends DataSourceV2ScanExecBase {
  protected def reportToDriver(): Unit = postDriverMetrics(scan.reportDriverMetrics())
}
