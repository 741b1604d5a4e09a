package org.apache.spark.sql.execution.python

import scala.annotation.unused

import org.apache.spark.sql.execution.window.{WindowEvaluatorFactoryBase, WindowFunctionFrame}

/** Spark 4.1 lets a window partition have any number of rows. */
private[python] trait WindowPartitionLimit extends WindowEvaluatorFactoryBase {
  protected def checkSize(@unused rows: Long, @unused frames: Array[WindowFunctionFrame]): Unit = ()
}
