package org.apache.spark.sql.pyflow

import org.apache.spark.api.python.PythonException

object PythonErrors {

  /** The error that process mode raises for an exception in a Python function. */
  def raisedByFunction(traceback: String): Throwable = new PythonException(
    errorClass = "PYTHON_EXCEPTION",
    messageParameters =
      Map("msg" -> "An exception was thrown from the Python worker", "traceback" -> traceback))
}
