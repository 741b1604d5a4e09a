package org.apache.spark.sql.pyflow

import org.apache.spark.SparkException
import org.apache.spark.SparkThrowableHelper
import org.apache.spark.api.python.{PythonException, PythonWorkerException}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.errors.QueryExecutionErrors

object PythonErrors {

  /** The error that process mode raises for an exception in a Python function. */
  def raisedByFunction(traceback: String): Throwable = FunctionError(traceback)

  /** What process mode makes of an error where `foreach` calls the function. */
  def raisedByForeach(error: Throwable): Throwable = error match {
    case ofFunction: PythonException => FunctionError.ofForeach(ofFunction)
    case other => other
  }

  /** The error that process mode raises when it has killed a worker that was idle for too long. */
  def idle(timeoutSeconds: Long): SparkException = new PythonWorkerException(
    s"Python worker process terminated due to idle timeout (timeout: $timeoutSeconds seconds)")

  /** A writer of a Python data source has to return one message. */
  def invalidCommitMessage(details: String): Throwable =
    QueryExecutionErrors.invalidWriterCommitMessageError(details)

  /** Spark's error for a Python function where it takes none, with what would help. */
  def refused(
      errorClass: String,
      parameters: Map[String, String],
      hint: String): AnalysisException =
    new AnalysisException(
      errorClass = errorClass,
      sqlState = SparkThrowableHelper.getSqlState(errorClass),
      messageTemplate = s"${SparkThrowableHelper.getMessageTemplate(errorClass)} <hint>",
      messageParameters = parameters + ("hint" -> hint),
      cause = None,
      message = None)
}
