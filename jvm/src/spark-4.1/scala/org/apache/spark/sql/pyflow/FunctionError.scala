package org.apache.spark.sql.pyflow

import org.apache.spark.api.python.PythonException
import org.apache.spark.sql.execution.streaming.sources.ForeachUserFuncException

/**
 * Spark's error for an exception in a Python function. PySpark 4.1 knows the errors of functions by the
 * package of Spark's operators in their stack traces.
 */
private[pyflow] object FunctionError {
  private val Operator =
    new StackTraceElement(
      "org.apache.spark.sql.execution.python.EvalPythonExec",
      "evaluate",
      "",
      -1)

  def apply(traceback: String): PythonException = {
    val error = new PythonException(traceback, None.orNull)
    error.setStackTrace(Operator +: error.getStackTrace)
    error
  }

  /** Of a function that `foreach` calls. */
  def ofForeach(error: PythonException): Throwable = new ForeachUserFuncException(error)
}
