package io.pyflow.execution.task

import org.apache.spark.TaskContext
import org.apache.spark.sql.pyflow.{FunctionMetrics, RunningTask}

import io.pyflow.bridge.{BatchSource, InterpreterKind, JvmFunction, PythonBatches}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.FunctionsSpec

/**
 * Functions over Arrow batches, in the shared interpreter. Python asks the source for as much input as
 * it needs for a batch of output; the time that the source takes is not the functions'.
 *
 * @param metrics what takes the functions' metrics to the driver
 * @param function what they call in the JVM; the time that it takes is not theirs
 */
private[execution] class BatchFunctions(
    spec: FunctionsSpec,
    settings: ThreadModeSettings,
    source: BatchSource,
    context: TaskContext,
    measure: (PythonBatches, InterpreterKind) => Unit,
    metrics: Option[FunctionMetrics],
    function: Option[JvmFunction])
  extends FunctionHandle[PythonBatches](spec, measure) {

  /**
   * Has the functions make the next batch.
   *
   * @param array address of an ArrowArray, which is filled if there is a batch
   * @return what knows of the batch; None after the last
   */
  def next(array: Long): Option[PythonBatches] =
    Some(call(_.next(array))).filter(_.rows != BatchSource.END)

  override protected def load(): (TaskSlot, PythonBatches) = {
    FunctionLoading.prepare(spec, settings)
    val slot = new TaskSlot(context, InterpreterKind.SHARED, settings)
    val input: BatchSource = array => slot.waiting(RunningTask.in(context)(source.next(array)))
    val called = slot.waitingFor(new MetricReports(context, metrics, function))
    (slot, FunctionLoading.into(slot, spec, context)(slot.loadBatches(_, input, called)))
  }
}
