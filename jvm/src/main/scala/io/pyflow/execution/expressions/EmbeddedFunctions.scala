package io.pyflow.execution.expressions

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}
import org.apache.spark.sql.types.DataType

import io.pyflow.admission.{FunctionAdmission, FunctionIdentity}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.rows.BatchEnds
import io.pyflow.execution.task.RowFunctions
import io.pyflow.spec.ProgramSpec

/**
 * Plain functions that are called with one row at a time, and the results of the last one. Loaded in
 * a task with its first row; used by one thread at a time.
 */
case class EmbeddedFunctions(
    spec: ProgramSpec,
    resultTypes: Seq[DataType],
    deterministic: Boolean,
    identities: Seq[FunctionIdentity],
    settings: ThreadModeSettings) {

  @transient private lazy val evaluation = open()

  def names: String = spec.functionNames

  def evaluate(row: UnsafeRow): Unit = evaluation.evaluate(row)

  /** What the functions returned for the last row, valid until the next one. */
  def results: InternalRow = evaluation.results

  /** A call as EXPLAIN shows it. */
  def call(ordinal: Int, arguments: Seq[Expression]): String = {
    val call = spec.calls(ordinal)
    val shown = call.arguments.map { argument =>
      val value = arguments(argument.column).toString
      argument.keyword.fold(value)(keyword => s"$keyword => $value")
    }
    s"${call.name}(${shown.mkString(", ")})"
  }

  private def open(): EmbeddedEvaluation = {
    if (Option(TaskContext.get()).isEmpty) {
      throw new SparkException(
        s"Python function $names can be called in tasks only, and Spark has called it on the driver")
    }
    FunctionAdmission.evaluateHere(spec, identities, settings) { context =>
      val functions = new RowFunctions(spec, settings, context, _ => ())
      val batches = BatchEnds.every(spec.arrowBatchRows)
      new EmbeddedEvaluation(functions, batches, resultTypes, context)
    }
  }
}
