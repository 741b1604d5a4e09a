package io.pyflow.execution.batches

import java.util.{Iterator => JavaIterator}

import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.PythonUDTF
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.WorkerArrowRunner
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.pyflow.admission.{FunctionAdmission, FunctionIdentity}
import io.pyflow.arrow.{ColumnsToBatches, RowsToBatches, TaskInput}
import io.pyflow.bridge.LentMemory
import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.StreamSpec

/**
 * Evaluates an operator's functions over Arrow batches, in this JVM or, if the driver says so, in
 * Spark's Python workers. What all kinds of these functions have in common: rows or
 * batches go in, in one stream or by group, and batches come out.
 */
class ArrowLane private (
    spec: StreamSpec,
    settings: ThreadModeSettings,
    maxBytesPerBatch: Long,
    functions: Seq[FunctionIdentity],
    metrics: StreamMetrics,
    workerRunner: WorkerArrowRunner)
  extends Serializable {

  def stream(rows: Iterator[InternalRow]): Iterator[ColumnarBatch] =
    evaluate(new ArrowLane.Parts(Iterator((rows, 0))))(workerRunner.stream(rows, _))

  def groups(groups: Iterator[Iterator[InternalRow]]): Iterator[ColumnarBatch] =
    evaluate(new ArrowLane.Parts(groups.map((_, 0))))(workerRunner.groups(groups, _))

  def cogroups(
      cogroups: Iterator[(Iterator[InternalRow], Iterator[InternalRow])]): Iterator[ColumnarBatch] =
    evaluate(new ArrowLane.Parts(cogroups.flatMap { case (left, right) =>
      Iterator((left, 0), (right, 1))
    }))(workerRunner.cogroups(cogroups, _))

  /** Batches of rows that stay as they are, however large. */
  def batches(batches: Iterator[Iterator[InternalRow]]): Iterator[ColumnarBatch] = {
    val unlimited = (0, Int.MaxValue.toLong)
    evaluate(new ArrowLane.Parts(batches.map((_, 0))), unlimited)(workerRunner.batches(batches, _))
  }

  /**
   * Batches of columns that stay as they are.
   *
   * @param ordinals of the columns that the functions get
   */
  def columns(batches: Iterator[ColumnarBatch], ordinals: Seq[Int]): Iterator[ColumnarBatch] =
    evaluateIn(new ColumnsToBatches(spec.arrowSchemas.head, batches.asJava, ordinals.toArray, _)) {
      context =>
        workerRunner.batches(batches.map(ArrowLane.rows(_, ordinals)), context)
    }

  private def evaluate(
      parts: RowsToBatches.Parts,
      limits: (Int, Long) = (spec.maxRecordsPerBatch, maxBytesPerBatch))(
      inProcess: TaskContext => Iterator[ColumnarBatch]): Iterator[ColumnarBatch] = {
    val (maxRecords, maxBytes) = limits
    evaluateIn(
      new RowsToBatches(
        spec.schemas.asJava,
        spec.arrowSchemas.asJava,
        parts,
        spec.inStruct,
        spec.shape.grouped,
        maxRecords,
        maxBytes,
        _))(inProcess)
  }

  private def evaluateIn(input: LentMemory => TaskInput)(
      inProcess: TaskContext => Iterator[ColumnarBatch]): Iterator[ColumnarBatch] =
    FunctionAdmission.evaluate(spec, functions, settings) { (context, meter) =>
      val lent = input(new LentMemory(spec.functionNames))
      new StreamEvaluation(spec, settings, lent, context, metrics, meter): Iterator[ColumnarBatch]
    }(inProcess)
}

object ArrowLane {

  /**
   * @param functions what the driver is told of
   * @param workerMetrics what Spark's operators measure of their workers
   */
  def apply(
      spec: StreamSpec,
      settings: ThreadModeSettings,
      functions: Seq[FunctionIdentity],
      metrics: StreamMetrics,
      udtf: Option[PythonUDTF],
      workerMetrics: Map[String, SQLMetric]): ArrowLane =
    new ArrowLane(
      spec,
      settings,
      SQLConf.get.arrowMaxBytesPerBatch,
      functions,
      metrics,
      new WorkerArrowRunner(
        spec,
        udtf,
        spec.settings.runnerConf,
        workerMetrics,
        spec.settings.jobArtifactUUID))

  private def rows(batch: ColumnarBatch, ordinals: Seq[Int]): Iterator[InternalRow] =
    new ColumnarBatch(ordinals.map(batch.column).toArray, batch.numRows()).rowIterator().asScala

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
