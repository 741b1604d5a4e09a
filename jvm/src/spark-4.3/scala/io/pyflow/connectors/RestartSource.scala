package io.pyflow.connectors

import java.util

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory, Scan, ScanBuilder}
import org.apache.spark.sql.connector.read.streaming.{MicroBatchStream, Offset, ReadLimit, SupportsAdmissionControl}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * A streaming source without rows, which lets a query that goes on from a checkpoint run a batch.
 *
 * Spark asks the operators of the last batch whether they need another one, as for timers and for
 * what the watermark has passed. A query that goes on has had no batch yet, and would wait for rows.
 * The offset of this source is the number of times that the query has gone on, and so a new one then.
 */
class RestartSource extends TableProvider {
  override def supportsExternalMetadata: Boolean = true

  override def inferSchema(options: CaseInsensitiveStringMap): StructType = new StructType

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: util.Map[String, String]): Table = new RestartSource.NoRows(schema)
}

object RestartSource {
  private class NoRows(rows: StructType)
    extends Table
    with SupportsRead
    with ScanBuilder
    with Scan {
    override def name: String = "restart"

    override def schema: StructType = rows

    override def readSchema: StructType = rows

    override def capabilities: util.Set[TableCapability] =
      util.EnumSet.of(TableCapability.MICRO_BATCH_READ)

    override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = this

    override def build: Scan = this

    override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream =
      new Restarts(hasBatches(new Path(checkpointLocation)))
  }

  /** Whether a query has had batches, by the directory in its checkpoint that is a source's. */
  private def hasBatches(ofSource: Path): Boolean = {
    val offsets = new Path(ofSource.getParent.getParent, "offsets")
    val files = offsets.getFileSystem(SparkSession.active.sessionState.newHadoopConf())
    files.exists(offsets) && files.listStatus(offsets).nonEmpty
  }

  /** @param goesOn whether the query has had batches when it starts */
  private class Restarts(goesOn: Boolean) extends MicroBatchStream with SupportsAdmissionControl {
    private var reached = Option.empty[Restart]

    override def initialOffset: Offset = Restart(0)

    override def deserializeOffset(json: String): Offset = Restart(json.toLong)

    /** None before the query goes on for the first time. */
    override def latestOffset(start: Offset, limit: ReadLimit): Offset = {
      if (goesOn && reached.isEmpty) {
        reached = Some(Restart(start.asInstanceOf[Restart].number + 1))
      }
      reached.orNull
    }

    override def latestOffset: Offset = throw new UnsupportedOperationException("without a start")

    override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] =
      Array.empty

    override def createReaderFactory: PartitionReaderFactory =
      _ => throw new UnsupportedOperationException("there are no partitions")

    override def commit(end: Offset): Unit = ()

    override def stop(): Unit = ()

    override def toString: String = "RestartSource"
  }

  private case class Restart(number: Long) extends Offset {
    override def json: String = number.toString
  }
}
