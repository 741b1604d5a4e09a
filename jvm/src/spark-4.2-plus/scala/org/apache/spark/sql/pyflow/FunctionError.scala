package org.apache.spark.sql.pyflow

import org.apache.spark.api.python.PythonException

/** Spark's error for an exception in a Python function. */
private[pyflow] object FunctionError {
  def apply(traceback: String): PythonException = new PythonException(
    errorClass = "PYTHON_EXCEPTION",
    messageParameters =
      Map("msg" -> "An exception was thrown from the Python worker", "traceback" -> traceback))

  /** Of a function that `foreach` calls: like any other. */
  def ofForeach(error: PythonException): Throwable = error
}
