package org.apache.spark.sql.pyflow.ui

import org.apache.spark.sql.pyflow.OperatorMetrics

/**
 * What tasks have measured of functions. Times in nanoseconds, memory in bytes.
 *
 * @param isolatedTasks, sharedTasks tasks by their interpreter
 * @param workerTasks tasks in Python workers
 * @param inputRows of operators that keep state, as the following; other functions have as many as `rows`
 * @param lateRows rows that the watermark has left out
 * @param stateRows, stateMemory what is kept after the last batch
 * @param calls into Python, each with a bundle of rows or a batch
 * @param workerTime of Python workers, with what they wait for their input
 */
case class PythonTotals(
    isolatedTasks: Long = 0,
    sharedTasks: Long = 0,
    workerTasks: Long = 0,
    rows: Long = 0,
    calls: Long = 0,
    pythonTime: Long = 0,
    gilWaitTime: Long = 0,
    conversionTime: Long = 0,
    workerTime: Long = 0,
    peakMemory: Long = 0,
    inputRows: Long = 0,
    lateRows: Long = 0,
    stateRows: Long = 0,
    stateMemory: Long = 0) {

  def withoutState: PythonTotals = copy(stateRows = 0, stateMemory = 0)

  def hasState: Boolean = stateRows > 0 || stateMemory > 0

  def and(more: PythonTotals): PythonTotals = PythonTotals(
    isolatedTasks + more.isolatedTasks,
    sharedTasks + more.sharedTasks,
    workerTasks + more.workerTasks,
    rows + more.rows,
    calls + more.calls,
    pythonTime + more.pythonTime,
    gilWaitTime + more.gilWaitTime,
    conversionTime + more.conversionTime,
    workerTime + more.workerTime,
    peakMemory.max(more.peakMemory),
    inputRows + more.inputRows,
    lateRows + more.lateRows,
    stateRows + more.stateRows,
    stateMemory + more.stateMemory)
}

/**
 * A metric of an operator as a part of totals.
 *
 * @param isPeak whether it is the greatest value, not a sum
 * @param ofTask what each task that has any value counts for beside it
 */
private[ui] class Measure(
    val of: Long => PythonTotals,
    val isPeak: Boolean = false,
    val ofTask: PythonTotals = PythonTotals())

private[ui] object Measure {
  import OperatorMetrics._

  private val NanosPerMilli = 1000000L

  private val byName = Map(
    PythonTime -> new Measure(value => PythonTotals(pythonTime = value)),
    GilWaitTime -> new Measure(value => PythonTotals(gilWaitTime = value)),
    ConversionTime -> new Measure(value => PythonTotals(conversionTime = value)),
    PythonMemory -> new Measure(value => PythonTotals(peakMemory = value), isPeak = true),
    IsolatedTasks -> new Measure(value => PythonTotals(isolatedTasks = value)),
    SharedTasks -> new Measure(value => PythonTotals(sharedTasks = value)),
    Bundles -> new Measure(value => PythonTotals(calls = value)),
    Batches -> new Measure(value => PythonTotals(calls = value)),
    OutputRows -> new Measure(value => PythonTotals(rows = value)),
    InputRows -> new Measure(value => PythonTotals(inputRows = value)),
    LateRows -> new Measure(value => PythonTotals(lateRows = value)),
    StateRows -> new Measure(value => PythonTotals(stateRows = value)),
    StateMemory -> new Measure(value => PythonTotals(stateMemory = value)),
    WorkerInput -> new Measure(_ => PythonTotals(), ofTask = PythonTotals(workerTasks = 1)),
    WorkerTime -> new Measure(value => PythonTotals(workerTime = value * NanosPerMilli)))

  def named(name: String): Option[Measure] = byName.get(name)
}
