package io.pyflow.execution.state

import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter

/** The metrics of each state store of an operator. They are made when they are first asked for, which executors cannot. */
private[state] object InstanceMetrics {
  def make(writer: StateStoreWriter): Unit = writer.instanceMetrics
}
