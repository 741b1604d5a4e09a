package org.apache.spark.sql.pyflow;

import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.streaming.runtime.TERMINATED$;
import org.apache.spark.sql.streaming.StreamingQuery;

/**
 * Ends streaming queries between two batches, where {@link StreamingQuery#stop} interrupts the
 * batch that runs. In Java, because for Scala the state of queries is protected.
 */
public final class QueryEnds {
  private static final long UNTIL_LOOKED_AGAIN_MS = 10;
  private static final long UNTIL_INTERRUPTED_MS = 500;

  private QueryEnds() {}

  /** Lets a query begin no batch any more. */
  public static void beginNoBatch(StreamingQuery query) {
    MicroBatchExecution execution = execution(query);
    if (execution != null) execution.state().set(TERMINATED$.MODULE$);
  }

  /** Returns when a query has nothing left to do but wait for its next batch, or has ended. */
  public static void awaitBatch(StreamingQuery query) throws InterruptedException {
    MicroBatchExecution execution = execution(query);
    if (execution == null) return;
    Thread thread = execution.queryExecutionThread();
    while (thread.isAlive() && execution.status().isTriggerActive()) {
      thread.join(UNTIL_LOOKED_AGAIN_MS);
    }
    thread.join(UNTIL_INTERRUPTED_MS);
  }

  private static MicroBatchExecution execution(StreamingQuery query) {
    StreamingQuery found =
        query instanceof StreamingQueryWrapper wrapper ? wrapper.streamingQuery() : query;
    return found instanceof MicroBatchExecution batches ? batches : null;
  }
}
