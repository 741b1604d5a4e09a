package io.pyflow.execution.batches

import org.apache.spark.TaskContext
import org.apache.spark.sql.pyflow.RunningTask
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.pyflow.admission.ContentionMeter
import io.pyflow.arrow.{ImportedBatches, TaskInput}
import io.pyflow.bridge.{InterpreterKind, JvmFunction, PythonBatches}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.task.BatchFunctions
import io.pyflow.spec.FunctionsSpec

/**
 * Evaluates the functions of one operator over the batches of one task. Every batch of output is asked
 * for: Python then asks the source for as much input as it needs.
 *
 * @param function what the functions call in the JVM
 */
private[execution] class BatchEvaluation(
    spec: FunctionsSpec,
    settings: ThreadModeSettings,
    source: TaskInput,
    context: TaskContext,
    metrics: BatchMetrics,
    meter: Option[ContentionMeter],
    function: Option[JvmFunction] = None) {

  private val imported = new ImportedBatches
  private val functions = new BatchFunctions(
    spec,
    settings,
    source,
    context,
    measure(_, _),
    Some(metrics.ofFunctions),
    function)

  /** The output, which ends with the task. */
  def results: Iterator[ColumnarBatch] = {
    val batches = new BatchIterator(() => advance(), () => functions.interrupt(), () => release())
    context.addTaskCompletionListener[Unit](_ => batches.close())
    if (spec.mayBeRefused) batches.first(functions.openNow())
    batches
  }

  private def advance(): Option[ColumnarBatch] = {
    RunningTask.throwIfKilled(context)
    val array = imported.newArray()
    val made =
      try functions.next(array)
      catch {
        case e: Throwable =>
          imported.giveBack(array)
          throw e
      }
    if (made.isEmpty) {
      imported.giveBack(array)
      functions.finish()
    }
    made.map { batches =>
      metrics.outputRows.add(batches.rows)
      imported.take(array, batches)
    }
  }

  private def measure(batches: PythonBatches, interpreter: InterpreterKind): Unit = {
    metrics.batches.add(1)
    metrics.calls.add(batches.times, interpreter, meter)
    metrics.lentMemory.set(source.peakLentBytes)
  }

  private def release(): Unit =
    try functions.close()
    finally {
      try source.close()
      finally imported.close()
    }
}
