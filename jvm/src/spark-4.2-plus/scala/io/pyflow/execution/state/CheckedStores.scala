package io.pyflow.execution.state

import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExecBase

/** Checks that the stores can keep the state of processors. */
private[state] trait CheckedStores extends TransformWithStateExecBase {
  protected def checkStores(isStreaming: Boolean): Unit = validateStateStoreProvider(isStreaming)
}
