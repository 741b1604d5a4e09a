package org.apache.spark.sql.pyflow

import org.apache.spark.api.python.PythonException
import org.apache.spark.sql.errors.QueryExecutionErrors

object PythonErrors {

  /** The error that process mode raises for an exception in a Python function. */
  def raisedByFunction(traceback: String): Throwable = new PythonException(
    errorClass = "PYTHON_EXCEPTION",
    messageParameters =
      Map("msg" -> "An exception was thrown from the Python worker", "traceback" -> traceback))

  /** A writer of a Python data source has to return one message. */
  def invalidCommitMessage(details: String): Throwable =
    QueryExecutionErrors.invalidWriterCommitMessageError(details)
}
