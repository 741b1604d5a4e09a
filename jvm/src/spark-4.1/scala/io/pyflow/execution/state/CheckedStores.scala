package io.pyflow.execution.state

import scala.annotation.unused

import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExecBase

/** Spark 4.1 takes any store for state. */
private[state] trait CheckedStores extends TransformWithStateExecBase {
  protected def checkStores(@unused isStreaming: Boolean): Unit = ()
}
