package io.pyflow.execution.expressions

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}
import org.apache.spark.sql.types.DataType

import io.pyflow.admission.{FunctionAdmission, FunctionIdentity}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.batches.ArrowLane
import io.pyflow.execution.rows.BatchEnds
import io.pyflow.execution.task.RowFunctions
import io.pyflow.spec.{Argument, ColumnarCall, ProgramSpec}

/**
 * Functions that are called with one row at a time, and the results of the last one. Loaded in a task
 * with its first row; used by one thread at a time.
 */
trait EmbeddedFunctions extends Serializable {
  def names: String

  def deterministic: Boolean

  def evaluate(row: UnsafeRow): Unit

  /** What the functions returned for the last row, valid until the next one. */
  def results: InternalRow

  /** The name of a function, and which of the columns it gets. */
  protected def signature(ordinal: Int): (String, Seq[Argument])

  /** A call as EXPLAIN shows it. */
  def call(ordinal: Int, arguments: Seq[Expression]): String = {
    val (name, columns) = signature(ordinal)
    val shown = columns.map { argument =>
      val value = arguments(argument.column).toString
      argument.keyword.fold(value)(keyword => s"$keyword => $value")
    }
    s"$name(${shown.mkString(", ")})"
  }
}

/** Plain functions. */
case class EmbeddedRowFunctions(
    spec: ProgramSpec,
    resultTypes: Seq[DataType],
    deterministic: Boolean,
    identities: Seq[FunctionIdentity],
    settings: ThreadModeSettings)
  extends EmbeddedFunctions {

  @transient private lazy val evaluation = open()

  override def names: String = spec.functionNames

  override def evaluate(row: UnsafeRow): Unit = evaluation.evaluate(row)

  override def results: InternalRow = evaluation.results

  override protected def signature(ordinal: Int): (String, Seq[Argument]) = {
    val call = spec.calls(ordinal)
    (call.name, call.arguments)
  }

  private def open(): EmbeddedEvaluation = {
    if (Option(TaskContext.get()).isEmpty) {
      throw new SparkException(
        s"Python function $names can be called in tasks only, and Spark has called it on the driver")
    }
    FunctionAdmission.evaluateHere(spec, identities, settings, settings.advice) { context =>
      val functions = new RowFunctions(spec, settings, context, (_, _) => (), None)
      val batches = BatchEnds.every(spec.arrowBatchRows)
      val made = new EmbeddedEvaluation(functions, batches, resultTypes, context)
      if (spec.mayBeRefused) made.openNow()
      made
    }
  }
}

/** Scalar functions over Arrow batches: each row is a batch of one. */
case class EmbeddedBatchFunctions(
    calls: Seq[ColumnarCall],
    lane: ArrowLane,
    resultTypes: Seq[DataType],
    deterministic: Boolean)
  extends EmbeddedFunctions {

  @transient private lazy val evaluation =
    new EmbeddedBatchEvaluation(lane, resultTypes, TaskContext.get())

  override def names: String = calls.map(_.name).mkString(", ")

  override def evaluate(row: UnsafeRow): Unit = evaluation.evaluate(row)

  override def results: InternalRow = evaluation.results

  override protected def signature(ordinal: Int): (String, Seq[Argument]) =
    (calls(ordinal).name, calls(ordinal).arguments)
}
