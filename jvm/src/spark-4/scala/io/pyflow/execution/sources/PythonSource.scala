package io.pyflow.execution.sources

import java.util.{Iterator => JavaIterator}

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkContext, SparkException}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.PythonUDF
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec
import org.apache.spark.sql.execution.datasources.v2.python._
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.streaming.sources.MicroBatchWrite
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.connector.SupportsMetadata
import org.apache.spark.sql.pyflow.{FunctionMetrics, PythonErrors, PythonSources}
import org.apache.spark.sql.types.StructType

import io.pyflow.admission.FunctionIdentity
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.batches.{ArrowLane, BatchMetrics, MapInBatches}
import io.pyflow.spec.{Argument, BatchSpec, InBatches}

/**
 * A Python data source in thread mode. Its readers and writers are functions from batches to
 * batches: a reader makes rows of a partition's description, a writer a message of rows.
 *
 * @param cls the class of the data source, as a function that the driver and Spark's UI know
 */
class PythonSource(
    source: UserDefinedPythonDataSource,
    cls: PythonUDF,
    settings: ThreadModeSettings) {

  private[execution] def map(
      name: String,
      pickled: Array[Byte],
      input: StructType,
      output: StructType): MapInBatches = {
    val function = cls.copy(name = name, func = source.createPythonFunction(pickled))
    val spec = BatchSpec(
      Seq(function),
      cls.evalType,
      InBatches,
      Seq(input),
      Seq(Seq(Argument(0, None))),
      inStruct = true,
      SQLConf.get,
      settings.worker)
    val sparkContext = SparkContext.getOrCreate()
    val metrics = PythonSource.metrics(sparkContext)
    val measured = BatchMetrics(metrics, FunctionMetrics(sparkContext))
    val identities = FunctionIdentity.of(cls)
    val lane = ArrowLane(spec, settings, identities, measured, None, metrics)
    new MapInBatches(lane, toAttributes(output), output, cls.evalType)
  }

  /** Spark's own scan with other readers of the partitions. */
  def reading(scan: PythonScan): Scan = new Reading(scan) {
    override def toBatch: Batch = {
      val batch = scan.toBatch
      new Batch {
        override def planInputPartitions(): Array[InputPartition] = batch.planInputPartitions()

        override def createReaderFactory(): PartitionReaderFactory =
          readers(scan, batch.createReaderFactory())
      }
    }
  }

  /** The same for a batch of a stream. */
  def reading(scan: PythonScan, ofStream: MicroBatchScanExec): SparkPlan =
    ThreadMicroBatchScanExec(ofStream, new Reading(scan), readers(scan, ofStream.readerFactory))

  private class Reading(scan: PythonScan) extends Scan with SupportsMetadata {
    override def readSchema(): StructType = scan.readSchema()

    override def description(): String = PythonSource.Description

    override def columnarSupportMode(): Scan.ColumnarSupportMode = scan.columnarSupportMode()

    override def getMetaData(): Map[String, String] = scan.getMetaData()
  }

  private def readers(scan: PythonScan, ofSpark: PartitionReaderFactory): PartitionReaderFactory =
    new PythonSource.ReaderFactory(
      map(
        "read_from_data_source",
        PythonSources.readFunction(ofSpark),
        UserDefinedPythonDataSource.readInputSchema,
        scan.readSchema()),
      ofSpark)

  /** Spark's own write with other writers of the partitions. */
  def writing(write: PythonWrite): Write = new Write {
    override def description(): String = PythonSource.Description

    override def toString: String = s"$write ${description()}"

    override def toBatch: BatchWrite = {
      val batch = write.toBatch
      withWriters(batch, batch.createBatchWriterFactory)
    }
  }

  /** The same for a batch of a stream. */
  def writing(batch: MicroBatchWrite): BatchWrite =
    withWriters(batch, batch.writeSupport.createStreamingWriterFactory)

  private def withWriters(batch: BatchWrite, ofSpark: PhysicalWriteInfo => Any): BatchWrite =
    new AnnotatedWrite(batch, PythonSource.Description) {
      override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
        ofSpark(info) match {
          case writers: PythonBatchWriterFactory =>
            new PythonSource.WriterFactory(
              map(
                "write_to_data_source",
                writers.pickledWriteFunc,
                writers.inputSchema,
                UserDefinedPythonDataSource.writeOutputSchema))
          case other => throw SparkException.internalError(s"unexpected writers $other")
        }
    }
}

private object PythonSource {
  val Description = "(Python in thread mode, interpreter: shared)"

  /** What is measured of functions in thread mode and in workers; scans and writes do not show it. */
  private def metrics(sc: SparkContext): Map[String, SQLMetric] =
    BatchMetrics.create(sc) ++
      PythonCustomMetric.pythonMetrics.map { case (key, _) =>
        key -> SQLMetrics.createMetric(sc, key)
      } +
      BatchMetrics.received(sc)

  /**
   * @param ofSpark reads the partitions that the driver has read already, and kept as a block
   */
  class ReaderFactory(map: MapInBatches, ofSpark: PartitionReaderFactory)
    extends PartitionReaderFactory {
    override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
      partition match {
        case PythonInputPartition(_, pickled) => reader(pickled)
        case PythonStreamingInputPartition(_, pickled, None) => reader(pickled)
        case _: PythonStreamingInputPartition => ofSpark.createReader(partition)
        case other => throw SparkException.internalError(s"unexpected partition $other")
      }

    private def reader(pickled: Array[Byte]): PartitionReader[InternalRow] = {
      val rows = map(Iterator.single(InternalRow(pickled)))
      new PartitionReader[InternalRow] {
        override def next(): Boolean = rows.hasNext
        override def get(): InternalRow = rows.next()
        override def close(): Unit = {}
      }
    }
  }

  class WriterFactory(map: MapInBatches) extends DataWriterFactory {
    override def createWriter(partitionId: Int, taskId: Long): DataWriter[InternalRow] =
      new Writer(map)
  }

  private class Writer(map: MapInBatches) extends DataWriter[InternalRow] {
    private var message = Option.empty[WriterCommitMessage]

    override def writeAll(records: JavaIterator[InternalRow]): Unit = {
      val messages = map(records.asScala).map(row => PythonWriterCommitMessage(row.getBinary(0)))
      message = messages.nextOption()
      if (message.isEmpty) {
        throw PythonErrors.invalidCommitMessage("zero")
      }
      if (messages.hasNext) {
        throw PythonErrors.invalidCommitMessage("more than one")
      }
    }

    override def write(record: InternalRow): Unit =
      throw SparkException.internalError("a Python data source writes all rows at once")

    override def commit(): WriterCommitMessage = message.orNull

    override def abort(): Unit = {}

    override def close(): Unit = {}
  }
}
