package io.pyflow.execution.task

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.pyflow.FunctionMetrics
import org.slf4j.LoggerFactory

import io.pyflow.admission.{GilWatch, SharedOnlyFunctions}
import io.pyflow.bridge.{InterpreterKind, JvmFunction, LentMemoryException, PythonProgram, PythonUnavailableException, SharedInterpreterRequiredException}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.ProgramSpec

/**
 * Functions of a row each, in the interpreter that their session and their imports allow.
 *
 * @param metrics what takes the functions' metrics to the driver
 * @param function what they call in the JVM; the time that it takes is not theirs
 */
private[execution] class RowFunctions(
    spec: ProgramSpec,
    settings: ThreadModeSettings,
    context: TaskContext,
    measure: (PythonProgram, InterpreterKind) => Unit,
    metrics: Option[FunctionMetrics],
    function: Option[JvmFunction] = None)
  extends FunctionHandle[PythonProgram](spec, measure) {

  /**
   * Evaluates rows that lie in memory as `InputBundle` writes them: all of them or the first ones.
   *
   * @param endsBatch whether they are the last of an Arrow batch
   * @return what has the results until the next evaluation
   */
  def evaluate(address: Long, rows: Int, endsBatch: Boolean): PythonProgram = {
    val program = call(_.evaluate(address, rows, endsBatch))
    if (program.rowsDone == 0) {
      throw SparkException.internalError(s"none of $rows rows was evaluated")
    }
    program
  }

  /** The error for so many bytes of their input that the system refuses. */
  def refused(bytes: Long): LentMemoryException =
    LentMemoryException.forRows(bytes, spec.functionNames)

  /** A LIMIT ends a task with success before its input is exhausted. */
  override def close(): Unit =
    try {
      if (!context.isFailed() && !context.isInterrupted()) {
        finish()
      }
    } finally super.close()

  override protected def load(): (TaskSlot, PythonProgram) = {
    FunctionLoading.prepare(spec, settings)
    val sharedOnly = GilWatch.isTriedInShared(spec, context) ||
      !spec.hasSessionModules && SharedOnlyFunctions.contains(spec)
    val interpreter =
      if (sharedOnly) InterpreterKind.SHARED
      else FunctionLoading.interpreter(spec, settings)
    try loadInto(interpreter)
    catch {
      case refused: SharedInterpreterRequiredException if interpreter != InterpreterKind.SHARED =>
        SharedOnlyFunctions.add(spec, refused.getMessage)
        if (spec.hasSessionModules) throw refused
        GilWatch.await(context)
        loadInto(InterpreterKind.SHARED)
      case unavailable: PythonUnavailableException
          if interpreter != InterpreterKind.SHARED && !spec.hasSessionModules &&
            !settings.isolatedRequired =>
        RowFunctions.log.warn(
          s"Python function ${spec.functionNames} runs in the shared interpreter: no isolated one " +
            s"could be made. ${unavailable.getMessage}")
        GilWatch.await(context)
        loadInto(InterpreterKind.SHARED)
    }
  }

  private def loadInto(interpreter: InterpreterKind): (TaskSlot, PythonProgram) = {
    val slot = new TaskSlot(context, interpreter, settings)
    val called = slot.waitingFor(new MetricReports(context, metrics, function))
    (slot, FunctionLoading.into(slot, spec, context)(slot.load(_, called)))
  }
}

private object RowFunctions {
  private val log = LoggerFactory.getLogger(classOf[RowFunctions])
}
