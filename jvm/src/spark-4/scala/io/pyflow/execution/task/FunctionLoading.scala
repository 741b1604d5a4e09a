package io.pyflow.execution.task

import org.apache.spark.{SparkException, TaskContext}

import io.pyflow.bridge.{InterpreterKind, PythonRuntime}
import io.pyflow.config.{InterpreterChoice, ThreadModeSettings}
import io.pyflow.spec.FunctionsSpec

/** Gets functions into an interpreter, or says why not. */
private[execution] object FunctionLoading {

  /** Makes sure that the Python that runs is the functions'. */
  def prepare(spec: FunctionsSpec, settings: ThreadModeSettings): Unit = {
    // Functions are pickled byte code, which fits one minor version of Python only. Free-threaded
    // and other builds of a version have the same byte code: a function may come from either.
    val embedded = PythonRuntime.version
    if (InterpreterChoice.minor(embedded) != InterpreterChoice.minor(spec.pythonVersion)) {
      throw new SparkException(
        s"Python function ${spec.functionNames} was defined in Python ${spec.pythonVersion}, but " +
          s"the Python embedded in the executor (${settings.python}) is $embedded. Set " +
          "PYSPARK_PYTHON or spark.pyflow.python to the same Python as the driver's.")
    }
  }

  /** Where functions over rows run in this JVM, once it is prepared. */
  def interpreter(spec: FunctionsSpec, settings: ThreadModeSettings): InterpreterKind =
    InterpreterChoice.inRunningPython(settings.interpreter, settings.isolatedRequired) match {
      case Right(_) if Debugging.isAskedFor && !spec.hasSessionModules => InterpreterKind.SHARED
      case Right(interpreter) => interpreter
      case Left(reason) =>
        throw new SparkException(s"Python function ${spec.functionNames} cannot run: $reason.")
    }

  /** Loads functions into a slot, which is closed if that fails. */
  def into[T](slot: TaskSlot, spec: FunctionsSpec, context: TaskContext)(
      load: Array[Byte] => T): T =
    try {
      val json = spec.toJson(context, spec.loggingSession.map(slot.openSessionLog))
      slot.run(spec.functionNames)(load(json))
    } catch {
      case e: Throwable =>
        slot.close()
        throw e
    }
}
