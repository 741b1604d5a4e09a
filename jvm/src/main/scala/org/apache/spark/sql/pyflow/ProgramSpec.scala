package org.apache.spark.sql.pyflow

import java.io.File
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.{Base64, HexFormat}

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkFiles, TaskContext}
import org.apache.spark.api.python.PythonFunction
import org.apache.spark.sql.types.StructType
import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.{compact, render}

/** A value that a Python function gets: a column of the input row, by position or by keyword. */
case class Argument(column: Int, keyword: Option[String])

/** One call per row; of a chain `g(f(x))` the functions are listed innermost first. */
case class PythonCall(name: String, chain: Seq[PythonFunction], arguments: Seq[Argument])

/** Where a column of the output row comes from. */
sealed trait OutputColumn
case class PassThrough(column: Int, variableLength: Boolean) extends OutputColumn
case class CallResult(call: Int) extends OutputColumn

/** Settings of the session that process mode would send to its Python workers. */
case class WorkerSettings(
    runnerConf: Map[String, String],
    arrowMaxRecordsPerBatch: Int,
    binaryAsBytes: Boolean,
    hideTraceback: Boolean,
    simplifiedTraceback: Boolean,
    tracebackWithLocals: Boolean,
    jobArtifactUUID: Option[String])

/**
 * All that Python has to know to run the functions of one operator. Made on the driver; a task
 * renders it to JSON together with what only the task knows. Lives in Spark's package because
 * Spark keeps the parts of a Python function to itself.
 */
class ProgramSpec(
    val evalType: Int,
    inputSchema: StructType,
    calls: Seq[PythonCall],
    output: Seq[OutputColumn],
    settings: WorkerSettings)
  extends Serializable {

  private def functions: Seq[PythonFunction] = calls.flatMap(_.chain)

  val functionNames: String = calls.map(_.name).mkString(", ")

  /** The Python the functions were pickled with, "3.13". */
  def pythonVersion: String = functions.head.pythonVer

  /** How many rows process mode would convert at a time. */
  def arrowBatchRows: Int =
    if (settings.arrowMaxRecordsPerBatch > 0) settings.arrowMaxRecordsPerBatch else Int.MaxValue

  /** Variables that the driver's Python wants in the environment of its functions. */
  def environment: Map[String, String] = functions.head.envVars.asScala.toMap

  /** Equal for the same functions in any operator, task and query. */
  val commandsDigest: String = {
    val digest = MessageDigest.getInstance("SHA-256")
    functions.foreach { function =>
      digest.update(ByteBuffer.allocate(4).putInt(function.command.length).array())
      digest.update(function.command.toArray)
    }
    HexFormat.of().formatHex(digest.digest())
  }

  def toJson(context: TaskContext): Array[Byte] = {
    val spec = JObject(
      "eval_type" -> JInt(evalType),
      "input_schema" -> JString(inputSchema.json),
      "functions" -> JArray(calls.map(callJson).toList),
      "output" -> JArray(output.map(outputJson).toList),
      "runner_conf" -> JObject(settings.runnerConf.toList.map { case (k, v) => k -> JString(v) }),
      "arrow_batch_rows" -> JInt(arrowBatchRows),
      "binary_as_bytes" -> JBool(settings.binaryAsBytes),
      "hide_traceback" -> JBool(settings.hideTraceback),
      "simplified_traceback" -> JBool(settings.simplifiedTraceback),
      "traceback_with_locals" -> JBool(settings.tracebackWithLocals),
      "task" -> RunningTask.toJson(context),
      "broadcasts" -> JArray(broadcastsJson.toList),
      "files_dir" -> JString(filesDirectory),
      "python_includes" -> JArray(
        functions.flatMap(_.pythonIncludes.asScala).distinct.map(JString(_)).toList),
      "environment" -> JObject((environment ++ RunningTask.environment(context)).toList.map {
        case (k, v) =>
          k -> JString(v)
      }))
    compact(render(spec)).getBytes(UTF_8)
  }

  /** Adds what the functions added to their accumulators during a task that succeeded. */
  def addAccumulatorUpdates(updates: Iterable[Array[Byte]]): Unit =
    Option(functions.head.accumulator).foreach(accumulator => updates.foreach(accumulator.add))

  private def callJson(call: PythonCall): JValue = {
    val commands = call.chain.map { function =>
      JString(Base64.getEncoder.encodeToString(function.command.toArray))
    }
    val arguments = call.arguments.map { argument =>
      JArray(List(JInt(argument.column), argument.keyword.fold[JValue](JNull)(JString(_))))
    }
    JObject(
      "name" -> JString(call.name),
      "commands" -> JArray(commands.toList),
      "args" -> JArray(arguments.toList))
  }

  private def outputJson(column: OutputColumn): JValue = column match {
    case PassThrough(input, variableLength) =>
      JArray(List(JInt(0), JInt(input), JInt(if (variableLength) 1 else 0)))
    case CallResult(call) => JArray(List(JInt(1), JInt(call), JInt(0)))
  }

  private def broadcastsJson: Seq[JValue] =
    functions.flatMap(_.broadcastVars.asScala).distinctBy(_.id).map { broadcast =>
      JArray(List(JInt(broadcast.id), JString(broadcast.value.path)))
    }

  private def filesDirectory: String = {
    val root = SparkFiles.getRootDirectory()
    settings.jobArtifactUUID.fold(root)(uuid => new File(root, uuid).getAbsolutePath)
  }
}
