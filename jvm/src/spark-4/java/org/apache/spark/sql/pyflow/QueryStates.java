package org.apache.spark.sql.pyflow;

import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.TERMINATED$;

/** The states of streaming queries. In Java, because for Scala they are protected. */
final class QueryStates {
  private QueryStates() {}

  /** Lets a query begin no other batch. A batch that is being planned would be interrupted. */
  static void end(MicroBatchExecution query) {
    query.state().set(TERMINATED$.MODULE$);
  }
}
