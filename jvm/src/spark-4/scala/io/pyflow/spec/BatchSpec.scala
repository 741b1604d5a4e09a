package io.pyflow.spec

import java.io.ByteArrayOutputStream
import java.nio.channels.Channels
import java.util.Base64

import org.apache.arrow.vector.ipc.WriteChannel
import org.apache.arrow.vector.ipc.message.MessageSerializer
import org.apache.arrow.vector.types.pojo.Schema
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.{PythonFuncExpression, PythonUDTF}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.{ArrowSchemas, PickledFunction, PythonFunctions}
import org.apache.spark.sql.types.StructType
import org.json4s.JsonAST._

import io.pyflow.config.WorkerSettings

/** How the input of functions over Arrow batches is divided. */
sealed abstract class InputShape(val name: String, val grouped: Boolean)
case object InBatches extends InputShape("batches", false)
case object InGroups extends InputShape("groups", true)
case object InCogroups extends InputShape("cogroups", true)

/**
 * A function over Arrow columns; of a chain the functions are listed innermost first.
 *
 * @param table set for table functions
 */
case class ColumnarCall(
    name: String,
    chain: Seq[PickledFunction],
    arguments: Seq[Argument],
    resultId: Long,
    table: Option[TableFunction])

/**
 * Functions over Arrow batches.
 *
 * @param schemas of the inputs: two for cogroups, otherwise one
 * @param inStruct whether Python gets the columns of an input as the fields of its only column
 * @param evalConf what PySpark has to know about this evaluation, as process mode would send it
 */
class BatchSpec private (
    val evalType: Int,
    val shape: InputShape,
    val schemas: Seq[StructType],
    val inStruct: Boolean,
    val timeZone: String,
    val largeVarTypes: Boolean,
    val calls: Seq[ColumnarCall],
    evalConf: Map[String, String],
    val settings: WorkerSettings)
  extends FunctionsSpec {

  schemas.foreach(ArrowSchemas.failOnDuplicateNames)

  override protected def functions: Seq[PickledFunction] = calls.flatMap(_.chain)

  override val functionNames: String = calls.map(_.name).mkString(", ")

  def maxRecordsPerBatch: Int = settings.arrowMaxRecordsPerBatch

  def arrowSchemas: Seq[Schema] = schemas.map(toArrow)

  /** The inputs as Python gets them. */
  def pythonSchemas: Seq[StructType] =
    if (inStruct) schemas.map(new StructType().add("struct", _)) else schemas

  private def toArrow(schema: StructType): Schema =
    ArrowSchemas.of(schema, timeZone, largeVarTypes)

  override protected def kindJson: List[JField] = List(
    "input" -> JString(shape.name),
    "schemas" -> JArray(pythonSchemas.map(toArrow).map(schemaJson).toList),
    "functions" -> JArray(calls.map(callJson).toList),
    "eval_conf" -> FunctionsSpec.toJson(evalConf),
    "binary_as_bytes" -> JBool(settings.binaryAsBytes),
    "split_index" -> JInt(TaskContext.getPartitionId()))

  private def schemaJson(schema: Schema): JValue = {
    val bytes = new ByteArrayOutputStream
    MessageSerializer.serialize(new WriteChannel(Channels.newChannel(bytes)), schema)
    JString(Base64.getEncoder.encodeToString(bytes.toByteArray))
  }

  private def callJson(call: ColumnarCall): JValue = {
    val (named, positional) = call.arguments.partition(_.keyword.isDefined)
    JObject(
      "name" -> JString(call.name),
      "commands" -> commandsJson(call.chain),
      "args" -> JArray(positional.map(argument => JInt(argument.column)).toList),
      "kwargs" -> JObject(
        named.map(argument => argument.keyword.get -> JInt(argument.column)).toList),
      "result_id" -> JInt(call.resultId),
      "table_function" -> call.table.fold[JValue](JNull)(_.toJson))
  }
}

object BatchSpec {

  /**
   * @param schemas of the inputs: two for cogroups, otherwise one
   * @param arguments of each function
   * @param inStruct whether Python gets the columns as the fields of its only column
   * @param conf of the session
   * @param evalConf what PySpark has to know about this evaluation
   */
  def apply(
      functions: Seq[PythonFuncExpression],
      evalType: Int,
      shape: InputShape,
      schemas: Seq[StructType],
      arguments: Seq[Seq[Argument]],
      inStruct: Boolean,
      conf: SQLConf,
      settings: WorkerSettings,
      evalConf: Map[String, String] = Map.empty): BatchSpec = {
    val calls = functions.zip(arguments).map { case (udf, args) =>
      ColumnarCall(
        PythonFunctions.nameOf(udf),
        PythonFunctions.unchain(udf)._1,
        args,
        udf.resultId.id,
        Some(udf).collect { case udtf: PythonUDTF => TableFunction(udtf) })
    }
    new BatchSpec(
      evalType,
      shape,
      schemas,
      inStruct,
      conf.sessionLocalTimeZone,
      conf.arrowUseLargeVarTypes,
      calls,
      evalConf,
      settings)
  }
}
