package io.pyflow.spec

import org.apache.spark.sql.catalyst.expressions.{PythonUDF, PythonUDTF}
import org.apache.spark.sql.pyflow.{PickledFunction, PythonFunctions}
import org.apache.spark.sql.types.{BooleanType, StructField, StructType}
import org.json4s.JsonAST._

import io.pyflow.config.WorkerSettings

/**
 * A value that a Python function gets: a column of the input row, by position or by keyword.
 *
 * @param isTable whether it is the row of a table, which some table functions take as such
 */
case class Argument(column: Int, keyword: Option[String], isTable: Boolean = false)

/**
 * One call per row; of a chain `g(f(x))` the functions are listed innermost first.
 *
 * @param resultId by which the profiler knows the functions
 * @param table set for a table function: the only function then, whose arguments leave out the
 *     first column, which tells whether the rows have come to an end
 * @param stateful set for a processor that keeps state: the only function then
 */
case class PythonCall(
    name: String,
    chain: Seq[PickledFunction],
    arguments: Seq[Argument],
    resultId: Long,
    table: Option[TableFunction] = None,
    stateful: Option[StatefulFunction] = None)

/** Where a column of the output row comes from. */
sealed trait OutputColumn
case class PassThrough(column: Int, variableLength: Boolean) extends OutputColumn
case class CallResult(call: Int) extends OutputColumn

/** Functions of a row each. */
case class ProgramSpec private[spec] (
    evalType: Int,
    inputSchema: StructType,
    calls: Seq[PythonCall],
    output: Seq[OutputColumn],
    protected val settings: WorkerSettings)
  extends FunctionsSpec {

  override protected def functions: Seq[PickledFunction] = calls.flatMap(_.chain)

  override val functionNames: String = calls.map(_.name).mkString(", ")

  /** How many rows process mode would convert at a time. */
  def arrowBatchRows: Int =
    if (settings.arrowMaxRecordsPerBatch > 0) settings.arrowMaxRecordsPerBatch else Int.MaxValue

  override protected def kindJson: List[JField] = List(
    "commands_digest" -> JString(commandsDigest),
    "input_schema" -> JString(inputSchema.json),
    "functions" -> JArray(calls.map(callJson).toList),
    "output" -> JArray(output.map(outputJson).toList),
    "binary_as_bytes" -> JBool(settings.binaryAsBytes))

  private def callJson(call: PythonCall): JValue = {
    val arguments = call.arguments.map { argument =>
      JArray(List(JInt(argument.column), argument.keyword.fold[JValue](JNull)(JString(_))))
    }
    JObject(
      "name" -> JString(call.name),
      "commands" -> commandsJson(call.chain),
      "args" -> JArray(arguments.toList),
      "result_id" -> JInt(call.resultId),
      "table_function" -> call.table.fold[JValue](JNull)(_.toJson),
      "stateful" -> call.stateful.fold[JValue](JNull)(_.toJson))
  }

  private def outputJson(column: OutputColumn): JValue = column match {
    case PassThrough(input, variableLength) =>
      JObject("input" -> JInt(input), "variable_length" -> JBool(variableLength))
    case CallResult(call) => JObject("function" -> JInt(call))
  }
}

object ProgramSpec {

  /** Functions that get rows of nothing but their arguments, and whose results are the output. */
  def apply(
      udfs: Seq[PythonUDF],
      arguments: BoundArguments,
      evalType: Int,
      settings: WorkerSettings): ProgramSpec = {
    val calls = udfs.zip(arguments.ofFunctions).map { case (udf, bound) =>
      val chain = PythonFunctions.unchain(udf)._1
      PythonCall(PythonFunctions.nameOf(udf), chain, bound, udf.resultId.id)
    }
    new ProgramSpec(evalType, arguments.schema, calls, udfs.indices.map(CallResult), settings)
  }

  /**
   * A table function of a row each.
   *
   * @param schema of the arguments; before them comes a column that tells the end of the rows
   */
  def apply(
      udtf: PythonUDTF,
      arguments: Seq[Argument],
      schema: StructType,
      settings: WorkerSettings): ProgramSpec = {
    val function = new PickledFunction(udtf.func)
    val id = udtf.resultId.id
    val call = PythonCall(udtf.name, Seq(function), arguments, id, Some(TableFunction(udtf)))
    val input = StructType(StructField("_end", BooleanType, nullable = false) +: schema.fields)
    new ProgramSpec(udtf.evalType, input, Seq(call), Seq(CallResult(0)), settings)
  }

  /** A processor that keeps state; it is called for a group of rows, or for a timer. */
  def apply(udf: PythonUDF, stateful: StatefulFunction, settings: WorkerSettings): ProgramSpec = {
    val schema = StatefulFunction.input(stateful.keySchema)
    val arguments = schema.indices.map(Argument(_, None))
    val function = new PickledFunction(udf.func)
    val id = udf.resultId.id
    val call = PythonCall(udf.name, Seq(function), arguments, id, stateful = Some(stateful))
    // Results go through Arrow in process mode.
    val evalType = PythonFunctions.ArrowEvalType
    new ProgramSpec(evalType, schema, Seq(call), Seq(CallResult(0)), settings)
  }
}
