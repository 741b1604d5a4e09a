package org.apache.spark.sql.pyflow;

import java.util.OptionalLong;
import java.util.UUID;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;

/** The watermarks of queries that run. In Java, because for Scala they are protected. */
public final class Watermarks {
  private Watermarks() {}

  /**
   * The watermark that the next batch of a query has, in milliseconds; none before the query is
   * initialised, and none of a query of another application. To be called by the query's thread.
   */
  public static OptionalLong next(SparkSession session, String query) {
    Object running = session.sharedState().activeStreamingQueries().get(UUID.fromString(query));
    WatermarkTracker tracker =
        running instanceof MicroBatchExecution batches ? batches.watermarkTracker() : null;
    return tracker == null ? OptionalLong.empty() : OptionalLong.of(tracker.currentWatermark());
  }
}
