package io.pyflow.execution.sources

import java.util.{Iterator => JavaIterator}

import org.apache.spark.{SparkContext, SparkException, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.execution.streaming.sources.ForeachWriterCommitMessage
import org.apache.spark.sql.pyflow.PythonErrors

import io.pyflow.admission.{ContentionMeter, FunctionAdmission, FunctionIdentity}
import io.pyflow.bridge.{FunctionsRefusedException, LentMemory}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.batches.{BatchEvaluation, BatchMetrics}
import io.pyflow.execution.rows.BundleSize
import io.pyflow.spec.ConsumerSpec

/**
 * The sink of `foreach` in a stream, with the function in the JVM of the executors. It is called
 * once per task and pulls the rows itself.
 *
 * @param batch Spark's own write, for tasks that must not run the function in the JVM
 */
class ThreadForeachWrite(
    batch: BatchWrite,
    spec: ConsumerSpec,
    functions: Seq[FunctionIdentity],
    settings: ThreadModeSettings)
  extends AnnotatedWrite(batch, "(Python in thread mode, interpreter: shared)") {

  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
    new ThreadForeachWrite.WriterFactory(
      batch.createBatchWriterFactory(info),
      spec,
      functions,
      settings,
      BatchMetrics.notShown(SparkContext.getOrCreate()))
}

private object ThreadForeachWrite {
  class WriterFactory(
      ofSpark: DataWriterFactory,
      spec: ConsumerSpec,
      functions: Seq[FunctionIdentity],
      settings: ThreadModeSettings,
      metrics: BatchMetrics)
    extends DataWriterFactory {

    override def createWriter(partitionId: Int, taskId: Long): DataWriter[InternalRow] =
      new Writer(
        spec,
        functions,
        settings,
        metrics,
        () => ofSpark.createWriter(partitionId, taskId))
  }

  private class Writer(
      spec: ConsumerSpec,
      functions: Seq[FunctionIdentity],
      settings: ThreadModeSettings,
      metrics: BatchMetrics,
      ofSpark: () => DataWriter[InternalRow])
    extends DataWriter[InternalRow] {

    /** Where the function is in a worker. */
    private var inWorker = Option.empty[DataWriter[InternalRow]]

    override def writeAll(records: JavaIterator[InternalRow]): Unit =
      FunctionAdmission.evaluate(spec, functions, settings)(inThread(records, _, _)) { _ =>
        val writer = ofSpark()
        inWorker = Some(writer)
        writer.writeAll(records)
      }

    private def inThread(
        records: JavaIterator[InternalRow],
        context: TaskContext,
        meter: Option[ContentionMeter]): Unit = {
      val rows = new Rows(records)
      try consume(rows, context, meter)
      catch {
        case refused: FunctionsRefusedException => throw refused
        case error: Throwable if !rows.haveFailed => throw PythonErrors.raisedByForeach(error)
      }
    }

    private def consume(rows: Rows, context: TaskContext, meter: Option[ContentionMeter]): Unit = {
      val size = new BundleSize(settings.bundleRows, settings.bundleMillis)
      val memory = new LentMemory(spec.functionNames)
      val input = new RowsToBundles(spec.inputSchema, rows, size, memory)
      val results = new BatchEvaluation(spec, settings, input, context, metrics, meter).results
      if (results.hasNext) {
        throw SparkException.internalError(s"${spec.functionNames} returned something")
      }
      // Rows that the function did not ask for are rows of the query all the same.
      while (rows.hasNext) {
        rows.next()
      }
    }

    override def write(record: InternalRow): Unit =
      throw SparkException.internalError("foreach gets all rows at once")

    override def commit(): WriterCommitMessage =
      inWorker.fold[WriterCommitMessage](ForeachWriterCommitMessage)(_.commit())

    override def abort(): Unit = inWorker.foreach(_.abort())

    override def close(): Unit = inWorker.foreach(_.close())
  }

  /** The rows of a task, some of which may come of Python functions, too. */
  private class Rows(rows: JavaIterator[InternalRow]) extends JavaIterator[InternalRow] {
    var haveFailed = false

    override def hasNext: Boolean = got(rows.hasNext)

    override def next(): InternalRow = got(rows.next())

    private def got[T](row: => T): T =
      try row
      catch {
        case error: Throwable =>
          haveFailed = true
          throw error
      }
  }
}
