package io.pyflow.execution.rows

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.pyflow.{PythonErrors, RunningTask}
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.pyflow.admission.{ContentionMeter, SharedOnlyFunctions}
import io.pyflow.bridge.{InterpreterKind, PythonProgram, SharedInterpreterRequiredException}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.task.{FunctionLoading, PythonMemory, TaskSlot}
import io.pyflow.spec.ProgramSpec

/**
 * The Python side of one operator in one task: loads the functions when the first bundle comes,
 * evaluates bundle after bundle, and gives everything back at the end. Called by one thread at a
 * time, per bundle rather than per row.
 */
private[execution] class BundleEvaluation(
    spec: ProgramSpec,
    settings: ThreadModeSettings,
    outputTypes: Seq[DataType],
    context: TaskContext,
    metrics: EvaluationMetrics,
    meter: Option[ContentionMeter])
  extends BundleEvaluator {

  /** Functions loaded into an interpreter that the task holds. */
  private class Loaded(val slot: TaskSlot, val program: PythonProgram) {
    def close(): Unit = slot.close(spec.functionNames, program)
  }

  @volatile private var loaded: Option[Loaded] = None
  private var accumulatorsDone = false
  private lazy val deferred = new DeferredColumns(outputTypes)

  /** The output rows for input rows. */
  def results(
      input: Iterator[InternalRow],
      projectAll: Boolean,
      newProjection: () => UnsafeProjection): Iterator[InternalRow] =
    results(input, BatchEnds.every(spec.arrowBatchRows), projectAll, newProjection)

  /** The output rows for the rows of batches. */
  def resultsOfBatches(
      input: Iterator[ColumnarBatch],
      newProjection: () => UnsafeProjection): Iterator[InternalRow] = {
    val rows = new RowsOfBatches(input)
    results(rows, rows, projectAll = true, newProjection)
  }

  /**
   * @param batches where batches of the input end
   * @param projectAll whether every input row must be projected
   * @param newProjection makes the projection from an input row to what Python gets
   */
  private def results(
      input: Iterator[InternalRow],
      batches: BatchEnds,
      projectAll: Boolean,
      newProjection: () => UnsafeProjection): Iterator[InternalRow] = {
    val rows = new BundleIterator(
      input,
      batches,
      projectAll,
      () => newProjection(),
      outputTypes.length,
      this,
      new BundleSize(settings.bundleRows, settings.bundleMillis))
    context.addTaskCompletionListener[Unit](_ => rows.close())
    rows
  }

  override def throwIfKilled(): Unit = RunningTask.throwIfKilled(context)

  override def evaluate(address: Long, rows: Int, endsBatch: Boolean): Unit = {
    val current = loaded.getOrElse(load())
    val program = current.program
    val outcome = current.slot.run(spec.functionNames)(program.evaluate(address, rows, endsBatch))
    metrics.bundles.add(1)
    metrics.pythonTime.add(program.times.pythonNanos)
    metrics.conversionTime.add(program.conversionNanos)
    metrics.gilWaitTime.add(program.times.gilWaitNanos)
    meter.foreach(_.add(program.times))
    if (program.times.sampledNanos > 0) {
      PythonMemory.sample(metrics.pythonMemory)
    }
    outcome match {
      case PythonProgram.DONE =>
        if (program.rowsDone == 0) {
          throw SparkException.internalError(s"none of $rows rows was evaluated")
        }
      case PythonProgram.MOVE_TO_SHARED if current.slot.interpreter != InterpreterKind.SHARED =>
        SharedOnlyFunctions.add(spec, program.error)
        throw BundleEvaluation.movedTooLate(spec.functionNames, program.error)
      case PythonProgram.INTERRUPTED => current.slot.throwInterrupted(spec.functionNames)
      case PythonProgram.ERROR => throw PythonErrors.raisedByFunction(program.error)
      case other => throw SparkException.internalError(s"unexpected outcome $other")
    }
  }

  override def rowsDone: Int = program.rowsDone

  override def inputBytesDone: Long = program.inputBytesDone

  override def outputAddress: Long = program.outputAddress

  override def resolveDeferred(row: UnsafeRow, ordinals: Long, count: Int): InternalRow =
    deferred.resolve(row, ordinals, count)

  override def countRowsOut(rows: Int): Unit = metrics.outputRows.add(rows)

  /** What the functions added to accumulators counts now. */
  override def inputExhausted(): Unit =
    if (!accumulatorsDone) {
      accumulatorsDone = true
      loaded.foreach { functions =>
        val updates = functions.slot.run(spec.functionNames)(functions.program.accumulatorUpdates)
        spec.addAccumulatorUpdates(updates.toSeq)
      }
    }

  override def interrupt(): Unit = loaded.foreach(_.slot.interrupt())

  override def close(): Unit =
    try {
      // A LIMIT ends a task with success before its input is exhausted.
      if (!context.isFailed() && !context.isInterrupted()) {
        inputExhausted()
      }
    } finally {
      loaded.foreach(_.close())
      loaded = None
    }

  private def program: PythonProgram = loaded match {
    case Some(current) => current.program
    case None => throw SparkException.internalError("no Python functions are loaded")
  }

  private def load(): Loaded = {
    FunctionLoading.prepare(spec, settings)
    // Another attempt may be there because the one before has met such an import in another JVM.
    val sharedOnly = SharedOnlyFunctions.contains(spec) || context.attemptNumber() > 0
    val interpreter =
      if (sharedOnly) InterpreterKind.SHARED
      else FunctionLoading.interpreter(spec, settings)
    val current =
      try loadInto(interpreter)
      catch {
        case refused: SharedInterpreterRequiredException if interpreter != InterpreterKind.SHARED =>
          SharedOnlyFunctions.add(spec, refused.getMessage)
          loadInto(InterpreterKind.SHARED)
      }
    loaded = Some(current)
    current
  }

  private def loadInto(interpreter: InterpreterKind): Loaded = {
    val slot = new TaskSlot(context, interpreter, settings)
    new Loaded(slot, FunctionLoading.into(slot, spec, context)(slot.load))
  }

}

private[execution] object BundleEvaluation {

  /** What the functions have done would be done twice, and what they have kept would be lost. */
  private def movedTooLate(functionNames: String, imports: String): SparkException =
    new SparkException(
      s"Python function $functionNames needs the shared interpreter, which only showed when it ran " +
        s"and imported $imports: isolated interpreters take no extension modules but the standard " +
        "library's. Another attempt runs it in the shared interpreter and succeeds. To have it " +
        "start there, import the module where the function is defined, or set " +
        "spark.pyflow.interpreter=shared.")
}
