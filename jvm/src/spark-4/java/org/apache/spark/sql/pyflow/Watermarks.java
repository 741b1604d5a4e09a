package org.apache.spark.sql.pyflow;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkTracker;

/**
 * The watermarks of queries that run. In Java, because for Scala they are protected. To be called
 * by the thread of the query, between two batches.
 */
public final class Watermarks {
  private Watermarks() {}

  /**
   * The watermark that the next batch of a query has, in milliseconds; none before the query is
   * initialised, and none of a query of another application.
   */
  public static OptionalLong next(SparkSession session, String query) {
    return tracker(session, query)
        .map(tracker -> OptionalLong.of(tracker.currentWatermark()))
        .orElse(OptionalLong.empty());
  }

  /** Sets the watermark that the next batch of a query has, in milliseconds. */
  public static void raise(SparkSession session, String query, long watermark) {
    tracker(session, query).ifPresent(tracker -> tracker.setWatermark(watermark));
  }

  /** The last batch of a query, if it has had one since it was started. */
  public static Optional<IncrementalExecution> lastBatch(SparkSession session, String query) {
    return running(session, query).map(MicroBatchExecution::lastExecution);
  }

  private static Optional<WatermarkTracker> tracker(SparkSession session, String query) {
    return running(session, query).map(MicroBatchExecution::watermarkTracker);
  }

  private static Optional<MicroBatchExecution> running(SparkSession session, String query) {
    Object found = session.sharedState().activeStreamingQueries().get(UUID.fromString(query));
    return found instanceof MicroBatchExecution batches ? Optional.of(batches) : Optional.empty();
  }
}
