package io.pyflow.execution.batches

import java.util.{Iterator => JavaIterator}

import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, PythonUDTF}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.WorkerArrowRunner
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.pyflow.admission.{FunctionAdmission, FunctionIdentity}
import io.pyflow.arrow.{ColumnsToBatches, RowsToBatches, TaskInput}
import io.pyflow.bridge.{JvmFunction, LentMemory}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.BatchSpec

/**
 * Evaluates an operator's functions over Arrow batches, in this JVM or, if they are not admitted there,
 * in Spark's Python workers. Rows or batches go in, in one stream or by group, and batches come out;
 * all kinds of these functions have that in common.
 */
class ArrowLane private (
    spec: BatchSpec,
    settings: ThreadModeSettings,
    maxBytesPerBatch: Long,
    functions: Seq[FunctionIdentity],
    metrics: BatchMetrics,
    workerRunner: WorkerArrowRunner)
  extends Serializable {

  def stream(rows: Iterator[InternalRow]): Iterator[ColumnarBatch] =
    evaluate(ArrowLane.Parts.of(Iterator(rows)))(workerRunner.stream(rows, _))

  /**
   * @param grouping what the keys consist of
   */
  def groups(
      grouping: Seq[Expression],
      groups: Iterator[(InternalRow, Iterator[InternalRow])]): Iterator[ColumnarBatch] =
    evaluate(
      new ArrowLane.Parts(
        groups.map { case (key, rows) => (rows, 0, key) },
        new GroupKey(grouping).text))(workerRunner.groups(groups.map(_._2), _))

  def cogroups(
      grouping: Seq[Expression],
      cogroups: Iterator[(InternalRow, Iterator[InternalRow], Iterator[InternalRow])])
      : Iterator[ColumnarBatch] =
    evaluate(
      new ArrowLane.Parts(
        cogroups.flatMap { case (key, left, right) => Iterator((left, 0, key), (right, 1, key)) },
        new GroupKey(grouping).text))(
      workerRunner.cogroups(cogroups.map { case (_, left, right) => (left, right) }, _))

  /** Batches of rows that stay as they are, however large. */
  def batches(batches: Iterator[Iterator[InternalRow]]): Iterator[ColumnarBatch] = {
    val unlimited = (0, Int.MaxValue.toLong)
    evaluate(ArrowLane.Parts.of(batches), unlimited)(workerRunner.batches(batches, _))
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

  /**
   * Evaluates functions that keep state, which cannot go to workers: rows of some parts, of which
   * none share a batch.
   *
   * @param state what the functions ask for state
   * @param otherwise what becomes of the query where they may not run here, a sentence
   */
  def withState(
      parts: Iterator[Iterator[InternalRow]],
      state: JvmFunction,
      otherwise: String): Iterator[ColumnarBatch] =
    FunctionAdmission.evaluateHere(spec, functions, settings, otherwise) { context =>
      val lent = input(ArrowLane.Parts.of(parts))(new LentMemory(spec.functionNames))
      new BatchEvaluation(spec, settings, lent, context, metrics, None, Some(state)).results
    }

  /**
   * Evaluates functions that ask the JVM for more than rows.
   *
   * @param rows which are asked, too; made where they are needed
   * @param results what becomes of the batches
   * @param inProcess the same, made in workers
   */
  def asking[T](rows: => Iterator[InternalRow] with JvmFunction)(
      results: Iterator[ColumnarBatch] => T)(inProcess: => T): T =
    FunctionAdmission.evaluate(spec, functions, settings) { (context, meter) =>
      // They take rows of the partition already when they are made; functions may be refused before.
      lazy val asked = rows
      val parts = Iterator.single(()).map(_ => asked: Iterator[InternalRow])
      val function: JvmFunction = (code, argument) => asked.call(code, argument)
      val lent = input(ArrowLane.Parts.of(parts))(new LentMemory(spec.functionNames))
      val evaluation =
        new BatchEvaluation(spec, settings, lent, context, metrics, meter, Some(function))
      results(evaluation.results)
    }(_ => inProcess)

  private def evaluate(
      parts: RowsToBatches.Parts,
      limits: (Int, Long) = (spec.maxRecordsPerBatch, maxBytesPerBatch))(
      inProcess: TaskContext => Iterator[ColumnarBatch]): Iterator[ColumnarBatch] =
    evaluateIn(input(parts, limits))(inProcess)

  private def input(
      parts: RowsToBatches.Parts,
      limits: (Int, Long) = (spec.maxRecordsPerBatch, maxBytesPerBatch))
      : LentMemory => TaskInput = {
    val (maxRecords, maxBytes) = limits
    new RowsToBatches(
      spec.schemas.asJava,
      spec.arrowSchemas.asJava,
      parts,
      spec.inStruct,
      spec.shape.grouped,
      maxRecords,
      maxBytes,
      _)
  }

  private def evaluateIn(input: LentMemory => TaskInput)(
      inProcess: TaskContext => Iterator[ColumnarBatch]): Iterator[ColumnarBatch] =
    FunctionAdmission.evaluate(spec, functions, settings) { (context, meter) =>
      val lent = input(new LentMemory(spec.functionNames))
      new BatchEvaluation(spec, settings, lent, context, metrics, meter).results
    }(inProcess)
}

object ArrowLane {

  /**
   * @param functions as the driver knows them
   * @param workerMetrics what Spark's operators measure of their workers
   */
  def apply(
      spec: BatchSpec,
      settings: ThreadModeSettings,
      functions: Seq[FunctionIdentity],
      metrics: BatchMetrics,
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

  /** Rows that belong together, each with the number of its schema and the key of its group. */
  private class Parts(
      parts: Iterator[(Iterator[InternalRow], Int, InternalRow)],
      text: InternalRow => String)
    extends RowsToBatches.Parts {
    private var currentSchema = 0
    private var currentKey = InternalRow.empty

    override def next(): JavaIterator[InternalRow] =
      if (parts.hasNext) {
        val (rows, schema, key) = parts.next()
        currentSchema = schema
        currentKey = key
        rows.asJava
      } else {
        null
      }

    override def schema(): Int = currentSchema

    override def key(): String = text(currentKey)
  }

  private object Parts {

    /** Parts of one schema that are no groups. */
    def of(parts: Iterator[Iterator[InternalRow]]): Parts =
      new Parts(parts.map((_, 0, InternalRow.empty)), _ => "")
  }
}
