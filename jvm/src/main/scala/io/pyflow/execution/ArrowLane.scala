package io.pyflow.execution

import java.util.{Iterator => JavaIterator}

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.python.SparksArrowRunner
import org.apache.spark.sql.pyflow.{FunctionIdentity, StreamSpec}
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.pyflow.arrow.RowsToBatches

/** An operator's metrics, as a task adds to them. Times in nanoseconds. */
case class StreamMetrics(
    outputRows: SQLMetric,
    batches: SQLMetric,
    pythonTime: SQLMetric,
    gilWaitTime: SQLMetric,
    pythonMemory: SQLMetric)

object StreamMetrics {

  /** What operators of the Arrow lane measure beside what Spark's Python operators do. */
  def create(sparkContext: SparkContext): Map[String, SQLMetric] = Map(
    "batches" -> SQLMetrics.createMetric(sparkContext, "number of batches"),
    "pythonTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time in Python"),
    "gilWaitTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time waiting for the GIL"),
    PythonMemory.metric(sparkContext))

  def apply(metrics: Map[String, SQLMetric]): StreamMetrics = StreamMetrics(
    metrics("pythonNumRowsReceived"),
    metrics("batches"),
    metrics("pythonTime"),
    metrics("gilWaitTime"),
    metrics(PythonMemory.Key))
}

/**
 * Evaluates an operator's functions over Arrow batches, in this JVM or, if the driver says so, in
 * Spark's Python workers. What all kinds of these functions have in common: rows go in, in one
 * stream or by group, and batches come out.
 */
class ArrowLane(
    spec: StreamSpec,
    settings: ThreadModeSettings,
    maxBytesPerBatch: Long,
    functions: Seq[FunctionIdentity],
    metrics: StreamMetrics,
    sparksRunner: SparksArrowRunner)
  extends Serializable {

  def stream(rows: Iterator[InternalRow]): Iterator[ColumnarBatch] =
    evaluate(new ArrowLane.Parts(Iterator((rows, 0))))(sparksRunner.stream(rows, _))

  def groups(groups: Iterator[Iterator[InternalRow]]): Iterator[ColumnarBatch] =
    evaluate(new ArrowLane.Parts(groups.map((_, 0))))(sparksRunner.groups(groups, _))

  def cogroups(
      cogroups: Iterator[(Iterator[InternalRow], Iterator[InternalRow])]): Iterator[ColumnarBatch] =
    evaluate(new ArrowLane.Parts(cogroups.flatMap { case (left, right) =>
      Iterator((left, 0), (right, 1))
    }))(sparksRunner.cogroups(cogroups, _))

  private def evaluate(parts: RowsToBatches.Parts)(
      inProcess: TaskContext => Iterator[ColumnarBatch]): Iterator[ColumnarBatch] =
    DriverRecord.evaluate(spec, functions, settings) { (context, meter) =>
      val source = new RowsToBatches(
        spec.schemas.asJava,
        spec.arrowSchemas.asJava,
        parts,
        spec.inStruct,
        spec.shape.grouped,
        spec.maxRecordsPerBatch,
        maxBytesPerBatch)
      new StreamEvaluation(spec, settings, source, context, metrics, meter): Iterator[ColumnarBatch]
    }(inProcess)
}

object ArrowLane {

  /** Rows that belong together, each with the number of its schema. */
  private class Parts(parts: Iterator[(Iterator[InternalRow], Int)]) extends RowsToBatches.Parts {
    private var current = 0

    override def next(): JavaIterator[InternalRow] =
      if (parts.hasNext) {
        val (rows, schema) = parts.next()
        current = schema
        rows.asJava
      } else {
        null
      }

    override def schema(): Int = current
  }
}
