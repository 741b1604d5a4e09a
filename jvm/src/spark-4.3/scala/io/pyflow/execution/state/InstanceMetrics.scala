package io.pyflow.execution.state

import scala.annotation.unused

import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter

/** The metrics of each state store of an operator. Made when the operator is. */
private[state] object InstanceMetrics {
  def make(@unused writer: StateStoreWriter): Unit = ()
}
