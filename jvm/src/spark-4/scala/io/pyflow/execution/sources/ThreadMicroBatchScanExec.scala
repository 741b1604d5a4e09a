package io.pyflow.execution.sources

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory, Scan}
import org.apache.spark.sql.connector.read.streaming.SparkDataStream
import org.apache.spark.sql.execution.StreamSourceAwareSparkPlan
import org.apache.spark.sql.execution.datasources.v2.{DataSourceRDD, MicroBatchScanExec}

/**
 * Reads one batch of a stream's Python source, in the JVM of the executors. Differs from Spark's own
 * operator in the readers of the partitions only: Spark finds the progress of the source here.
 */
case class ThreadMicroBatchScanExec(
    @transient ofSpark: MicroBatchScanExec,
    @transient scan: Scan,
    readerFactory: PartitionReaderFactory)
  extends ReportingScan
  with StreamSourceAwareSparkPlan {

  override def output: Seq[Attribute] = ofSpark.output

  override def keyGroupedPartitioning: Option[Seq[Expression]] = ofSpark.keyGroupedPartitioning

  override def ordering: Option[Seq[SortOrder]] = ofSpark.ordering

  override protected def inputPartitions: Seq[InputPartition] = ofSpark.inputPartitions

  override lazy val inputRDD: RDD[InternalRow] = {
    val rows =
      new DataSourceRDD(sparkContext, partitions, readerFactory, supportsColumnar, customMetrics)
    reportToDriver()
    rows
  }

  override def getStream: Option[SparkDataStream] = ofSpark.getStream
}
