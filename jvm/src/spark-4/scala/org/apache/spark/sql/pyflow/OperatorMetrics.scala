package org.apache.spark.sql.pyflow

/** What metrics of operators with Python functions are called: they are found in plans by that. */
object OperatorMetrics {
  val PythonTime = "time in Python"
  val GilWaitTime = "time waiting for the GIL"
  val ConversionTime = "time converting values"
  val PythonMemory = "peak memory of the executor's Python"
  val IsolatedTasks = "number of tasks in isolated interpreters"
  val SharedTasks = "number of tasks in the shared interpreter"
  val Bundles = "number of bundles"
  val Batches = "number of batches"
  val InputRows = "number of input rows"
  val OutputRows = "number of output rows"

  // Of Spark's operators that keep state.
  val StateRows = "number of total state rows"
  val StateMemory = "memory used by state"
  val LateRows = "number of rows which are dropped by watermark"

  // Of Spark's own operators; the time in milliseconds.
  val WorkerInput = "data sent to Python workers"
  val WorkerTime = "time to run Python workers"
}
