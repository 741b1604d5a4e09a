package io.pyflow.execution.task

import org.apache.spark.SparkException
import org.apache.spark.sql.pyflow.PythonErrors

import io.pyflow.admission.SharedOnlyFunctions
import io.pyflow.bridge.{InterpreterKind, LoadedFunctions, PythonProgram}
import io.pyflow.spec.FunctionsSpec

/**
 * Functions of one operator or expression in one task, from their loading to their closing. They are
 * opened with the first call, in an interpreter that the task then holds. One thread at a time calls
 * a handle, whichever; any thread may interrupt it.
 *
 * {{{
 *   open      lease an interpreter and load the functions      with the first call
 *   call      enter Python: RowFunctions, BatchFunctions       as often as there is input
 *   finish    collect what they added to accumulators          once, after a task that succeeds
 *   close     close the functions, give the interpreter back   once, whatever has happened
 * }}}
 *
 * @param measure called after each call that returns from Python, also with an error
 */
private[execution] abstract class FunctionHandle[F <: LoadedFunctions](
    spec: FunctionsSpec,
    measure: (F, InterpreterKind) => Unit) {

  @volatile private var opened = Option.empty[(TaskSlot, F)]
  private var finished = false

  /** An interpreter and the functions that have been loaded into it. */
  protected def load(): (TaskSlot, F)

  /**
   * Enters Python with the functions.
   *
   * @param enterPython returns one of the outcomes of `PythonProgram`
   * @return the functions, which have the results until the next call
   */
  protected def call(enterPython: F => Int): F = {
    val (slot, functions) = opened.getOrElse(open())
    val outcome = slot.run(spec.functionNames)(enterPython(functions))
    measure(functions, slot.interpreter)
    outcome match {
      case PythonProgram.DONE => functions
      case PythonProgram.INTERRUPTED => slot.throwInterrupted(spec.functionNames)
      case PythonProgram.ERROR => throw PythonErrors.raisedByFunction(functions.error)
      case PythonProgram.MOVE_TO_SHARED if slot.interpreter != InterpreterKind.SHARED =>
        throw movedTooLate(functions.error)
      case other => throw SparkException.internalError(s"unexpected outcome $other")
    }
  }

  /** What the functions have done would be done twice, and what they have kept would be lost. */
  private def movedTooLate(imports: String): SparkException = {
    SharedOnlyFunctions.add(spec, imports)
    val next =
      if (spec.hasSessionModules) {
        "It uses Python files of its session, which the shared interpreter does not have: another " +
          "attempt runs it in process mode. Set spark.pyflow.execution-mode=process."
      } else {
        "Another attempt runs it in the shared interpreter and succeeds. To have it start there, " +
          "import the module where the function is defined, or set spark.pyflow.interpreter=shared."
      }
    new SparkException(
      s"Python function ${spec.functionNames} needs the shared interpreter, which only showed when " +
        s"it ran and imported $imports: isolated interpreters take no extension modules but the " +
        s"standard library's. $next")
  }

  /** Loads the functions before the first call, which does it otherwise. */
  def openNow(): Unit = if (opened.isEmpty) open()

  private def open(): (TaskSlot, F) = {
    val loaded = load()
    opened = Some(loaded)
    loaded
  }

  /** Counts what the functions added to accumulators; only once, however often it is called. */
  def finish(): Unit =
    if (!finished) {
      finished = true
      opened.foreach { case (slot, functions) =>
        val updates = slot.run(spec.functionNames)(functions.accumulatorUpdates)
        spec.addAccumulatorUpdates(updates.toSeq)
      }
    }

  /** Stops Python code that runs now; from any thread, returns at once. */
  def interrupt(): Unit = opened.foreach { case (slot, _) => slot.interrupt() }

  def close(): Unit =
    try opened.foreach { case (slot, functions) => slot.close(spec.functionNames, functions) }
    finally opened = None
}
