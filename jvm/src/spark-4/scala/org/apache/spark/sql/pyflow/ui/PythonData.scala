package org.apache.spark.sql.pyflow.ui

import com.fasterxml.jackson.annotation.JsonIgnore
import org.apache.spark.status.KVUtils.KVIndexParam
import org.apache.spark.util.kvstore.KVIndex

/**
 * Functions that an operator evaluates together.
 *
 * @param mode `thread` or `process`, as planned
 * @param reason for process mode; empty if there is none
 * @param executors by id
 */
case class PythonOperatorData(
    operator: String,
    functions: Seq[String],
    mode: String,
    reason: String,
    totals: PythonTotals,
    executors: Map[String, PythonTotals])

/**
 * A query with Python functions, under its number in the SQL tab.
 *
 * @param submitted in milliseconds since 1970
 * @param completed 0 as long as it runs
 * @param error empty if there is none
 * @param dependencies known when it has ended
 */
class PythonQueryData(
    @KVIndexParam val id: Long,
    val description: String,
    val submitted: Long,
    val completed: Long,
    val error: String,
    val operators: Seq[PythonOperatorData],
    val dependencies: Seq[PythonDependencies],
    val timeline: Seq[TimePoint]) {

  @JsonIgnore @KVIndex("completed")
  def completedIndex: Long = completed
}

/**
 * The same functions in all queries.
 *
 * @param key their names
 * @param reasons for process mode
 * @param lastQuery the number of the last query that had them
 */
class PythonFunctionData(
    @KVIndexParam val key: String,
    val functions: Seq[String],
    val operators: Seq[String],
    val modes: Seq[String],
    val reasons: Seq[String],
    val queries: Long,
    val lastQuery: Long,
    val totals: PythonTotals,
    val executors: Map[String, PythonTotals],
    val timeline: Seq[TimePoint])

/**
 * An executor, as far as Python is concerned.
 *
 * @param python the version of its CPython; empty if it has not started
 * @param memory that CPython had allocated when it was last asked, in bytes
 */
class PythonExecutorData(
    @KVIndexParam val id: String,
    val host: String,
    val python: String,
    val memory: Long,
    val interpreters: Seq[PythonInterpreter],
    val totals: PythonTotals)

/** Functions that run elsewhere than their queries were planned. */
class PythonMoveData(
    @KVIndexParam val number: Long,
    val time: Long,
    val functions: Seq[String],
    val reason: String)

/**
 * A span of time.
 *
 * @param time of its begin, in milliseconds since 1970
 * @param span in milliseconds
 * @param pythonTime, gilWaitTime in nanoseconds
 */
case class TimePoint(time: Long, span: Long, calls: Long, pythonTime: Long, gilWaitTime: Long)
