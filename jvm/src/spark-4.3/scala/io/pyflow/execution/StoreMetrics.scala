package io.pyflow.execution

import scala.annotation.unused

import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter

/** The metrics of each state store of an operator. Spark makes them with the operator. */
private[execution] object StoreMetrics {
  def make(@unused writer: StateStoreWriter): Unit = ()
}
