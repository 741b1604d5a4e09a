package io.pyflow.spec

import org.apache.spark.TaskContext
import org.apache.spark.sql.pyflow.{PickledFunction, PythonFunctions}
import org.apache.spark.sql.types.StructType
import org.json4s.JsonAST._

import io.pyflow.config.WorkerSettings

/** A function of an iterator over all rows of a task, which returns nothing. */
class ConsumerSpec(
    name: String,
    function: PickledFunction,
    val inputSchema: StructType,
    protected val settings: WorkerSettings)
  extends FunctionsSpec {

  override def evalType: Int = PythonFunctions.ConsumerEvalType

  override protected def functions: Seq[PickledFunction] = Seq(function)

  override def functionNames: String = name

  /** Spark shows the logs of other functions only. */
  override def loggingSession: Option[String] = None

  override protected def kindJson: List[JField] = List(
    "input" -> JString("rows"),
    "input_schema" -> JString(inputSchema.json),
    "functions" -> JArray(
      List(JObject("name" -> JString(name), "commands" -> commandsJson(functions)))),
    "binary_as_bytes" -> JBool(settings.binaryAsBytes),
    "split_index" -> JInt(TaskContext.getPartitionId()))
}
