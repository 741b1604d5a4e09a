package io.pyflow.connectors

import java.util
import java.util.OptionalLong
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory, Scan, ScanBuilder}
import org.apache.spark.sql.connector.read.streaming.{MicroBatchStream, Offset, PartitionOffset, ReadLimit, SupportsAdmissionControl, SupportsRealTimeMode}
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.pyflow.Watermarks
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * A streaming source without rows, which has its query run a batch when a timer is due, and when the
 * watermark has moved.
 *
 * Spark runs batches when rows have come, and ones without rows for what the watermark has passed; but
 * these follow each other without an end where an operator has timers of the processing time. With
 * this source a query needs no batches without rows (`spark.sql.streaming.noDataMicroBatches.enabled`):
 * tasks of each batch report the earliest timer that the batch has not reached
 * ([[TickSource.report]]), and the source has a new offset when it is due, or when the batch to come
 * has a later watermark than the one before.
 *
 * In real-time mode batches follow each other anyway; the source is there so that a query can go on
 * from the same checkpoint with and without the mode.
 *
 * The source also leaves sources that are idle out of the watermark ([[IdleSources]]).
 *
 * A query that goes on from a checkpoint knows of no timers yet, nor whether the watermark has passed
 * something. So it has a new offset then, too. The offset is the number of batches that the source has
 * had run.
 */
class TickSource extends TableProvider {
  override def supportsExternalMetadata: Boolean = true

  override def inferSchema(options: CaseInsensitiveStringMap): StructType = new StructType

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]): Table = new TickSource.NoRows(schema)
}

object TickSource {

  /** The time of a timer that there is not. */
  private val Never = Long.MaxValue

  /** Of the queries that run, by their id. */
  private val running = new ConcurrentHashMap[String, Ticks]

  /**
   * Reports the earliest timer of a task that its batch has not reached. The reports of a batch
   * replace those of the batch before, so that each task with timers is to report in each batch.
   *
   * @param query the id of a query; one without this source may report, too
   * @param time in milliseconds since 1970; Long.MaxValue for no timer
   */
  def report(query: String, batch: Long, time: Long): Unit =
    Option(running.get(query)).foreach(_.report(batch, time))

  private class NoRows(rows: StructType)
    extends Table
    with SupportsRead
    with ScanBuilder
    with Scan {
    override def name: String = "ticks"

    override def schema: StructType = rows

    override def readSchema: StructType = rows

    override def capabilities: util.Set[TableCapability] =
      util.EnumSet.of(TableCapability.MICRO_BATCH_READ)

    override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = this

    override def build: Scan = this

    /** Spark calls it on the thread of the query. */
    override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream = {
      val context = SparkSession.active.sparkContext
      val query = Option(context.getLocalProperty(StreamExecution.QUERY_ID_KEY))
      new Ticks(query, hasBatches(new Path(checkpointLocation)))
    }
  }

  /** Whether a query has had batches, by the directory in its checkpoint that is a source's. */
  private def hasBatches(ofSource: Path): Boolean = {
    val offsets = new Path(ofSource.getParent.getParent, "offsets")
    val files = offsets.getFileSystem(SparkSession.active.sessionState.newHadoopConf())
    files.exists(offsets) && files.listStatus(offsets).nonEmpty
  }

  /** @param goesOn whether the query has had batches when it starts */
  private class Ticks(query: Option[String], goesOn: Boolean)
    extends MicroBatchStream
    with SupportsAdmissionControl
    with SupportsRealTimeMode {
    private var reached = Option.empty[Tick]

    // What is known of timers is what the tasks of this batch have reported.
    private var batch = -1L
    private var due = if (goesOn) 0L else Never

    // The watermark of the last batch.
    private var watermark = 0L

    private val idleSources = query.map(new IdleSources(_))

    query.foreach(running.put(_, this))

    def report(ofBatch: Long, time: Long): Unit = synchronized {
      if (ofBatch > batch) {
        batch = ofBatch
        due = time
      } else if (ofBatch == batch) {
        due = due.min(time)
      }
    }

    override def initialOffset: Offset = Tick(0)

    override def deserializeOffset(json: String): Offset = Tick(json.toLong)

    /** None before the first timer is due or the watermark moves, unless the query goes on. */
    override def latestOffset(start: Offset, limit: ReadLimit): Offset = synchronized {
      val isBehind = idleSources.exists(_.advance())
      val next = query.fold(OptionalLong.empty)(Watermarks.next(SparkSession.active, _))
      val isLater = next.orElse(watermark) > watermark
      watermark = next.orElse(watermark)
      if (isBehind || isLater || due <= System.currentTimeMillis) {
        reached = Some(Tick(start.asInstanceOf[Tick].number + 1))
        // The batch that follows tells which timer is the next.
        due = Never
      }
      reached.orNull
    }

    override def latestOffset: Offset = throw new UnsupportedOperationException("without a start")

    override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
      Array.empty

    override def planInputPartitions(start: Offset): Array[InputPartition] = {
      reached = Some(start.asInstanceOf[Tick])
      Array.empty
    }

    /** A batch of real-time mode ends by itself, and is not run for timers. */
    override def mergeOffsets(offsets: Array[PartitionOffset]): Offset =
      reached.getOrElse(initialOffset)

    override def createReaderFactory: PartitionReaderFactory =
      _ => throw new UnsupportedOperationException("there are no partitions")

    override def commit(end: Offset): Unit = ()

    override def stop(): Unit = query.foreach(running.remove(_, this))

    override def toString: String = "TickSource"
  }

  private case class Tick(number: Long) extends Offset {
    override def json: String = number.toString
  }
}
