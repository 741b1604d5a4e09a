package io.pyflow.execution

import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter

/** The metrics of each state store of an operator. Spark makes them when they are first asked for. */
private[execution] object StoreMetrics {
  def make(writer: StateStoreWriter): Unit = writer.instanceMetrics
}
