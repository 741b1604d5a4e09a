package org.apache.spark.sql.execution.python

import org.apache.spark.sql.execution.window.{WindowEvaluatorFactoryBase, WindowFunctionFrame}

/** How many rows Spark lets a window partition have. */
private[python] trait WindowPartitionLimit extends WindowEvaluatorFactoryBase {
  protected def checkSize(rows: Long, frames: Array[WindowFunctionFrame]): Unit =
    checkPartitionSizeLimit(rows, frames)
}
