package io.pyflow.planning

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.{RealTimeStreamScanExec, StreamingDataSourceV2ScanRelation}

import io.pyflow.config.ThreadModeSettings

/**
 * Rows of a stream that is read without an end in sight, in real-time mode or continuous processing:
 * a task waits for the next row to come, rather than to take all that are there.
 */
private[planning] object RealTimeScan {

  /** Whether rows come from a stream in real-time mode, whatever has become of them since. */
  def isBelow(input: LogicalPlan): Boolean = input.exists {
    case scan: StreamingDataSourceV2ScanRelation =>
      isAwaited(scan) && scan.relation.realTimeModeDuration.isDefined
    case _ => false
  }

  /** The same of a physical plan. */
  def isBelow(plan: SparkPlan): Boolean = plan.exists(_.isInstanceOf[RealTimeStreamScanExec])

  /** Makes every row a bundle, so that none waits for another that may be long in coming. */
  def oneByOne(settings: ThreadModeSettings, input: LogicalPlan): ThreadModeSettings =
    if (input.exists(isAwaited)) settings.copy(bundleRows = 1) else settings

  private def isAwaited(plan: LogicalPlan): Boolean = plan match {
    case scan: StreamingDataSourceV2ScanRelation =>
      scan.startOffset.isDefined && scan.endOffset.isEmpty
    case _ => false
  }
}
