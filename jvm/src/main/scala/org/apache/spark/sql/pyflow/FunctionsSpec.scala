package org.apache.spark.sql.pyflow

import java.io.File
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.{Base64, HexFormat}

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkFiles, TaskContext}
import org.apache.spark.api.python.PythonFunction
import org.apache.spark.sql.catalyst.expressions.PythonUDTF
import org.apache.spark.sql.types.StructType
import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.{compact, render}

/**
 * Settings of the session that process mode would send to its Python workers.
 *
 * @param loggingSession the session if what functions log goes to its `python_worker_logs()`
 */
case class WorkerSettings(
    runnerConf: Map[String, String],
    arrowMaxRecordsPerBatch: Int,
    binaryAsBytes: Boolean,
    hideTraceback: Boolean,
    simplifiedTraceback: Boolean,
    tracebackWithLocals: Boolean,
    jobArtifactUUID: Option[String],
    loggingSession: Option[String])

/**
 * All that Python has to know to run the functions of one operator. Made on the driver; a task
 * renders it to JSON together with what only the task knows. Lives in Spark's package because
 * Spark keeps the parts of a Python function to itself.
 */
abstract class FunctionsSpec extends Serializable {
  def evalType: Int

  protected def settings: WorkerSettings

  /** All functions, those within chains too. */
  protected def functions: Seq[PythonFunction]

  /** For messages. */
  def functionNames: String

  /** What this kind of functions needs beside its surroundings. */
  protected def kindJson: List[JField]

  /** The Python the functions were pickled with, "3.13". */
  def pythonVersion: String = functions.head.pythonVer

  /** Variables that the driver's Python wants in the environment of its functions. */
  def environment: Map[String, String] = functions.head.envVars.asScala.toMap

  /** The session whose `python_worker_logs()` shows what the functions log. */
  def loggingSession: Option[String] = settings.loggingSession

  /** Equal for the same functions in any operator, task and query. */
  lazy val commandsDigest: String = {
    val digest = MessageDigest.getInstance("SHA-256")
    functions.foreach { function =>
      digest.update(ByteBuffer.allocate(4).putInt(function.command.length).array())
      digest.update(function.command.toArray)
    }
    HexFormat.of().formatHex(digest.digest())
  }

  /** @param sessionLog the number of the log for [[loggingSession]] */
  def toJson(context: TaskContext, sessionLog: Option[Long]): Array[Byte] = {
    val variables = environment ++ RunningTask.environment(context) ++
      loggingSession.map("PYSPARK_SPARK_SESSION_UUID" -> _)
    val surroundings = List[JField](
      "eval_type" -> JInt(evalType),
      "runner_conf" -> FunctionsSpec.toJson(settings.runnerConf),
      "hide_traceback" -> JBool(settings.hideTraceback),
      "simplified_traceback" -> JBool(settings.simplifiedTraceback),
      "traceback_with_locals" -> JBool(settings.tracebackWithLocals),
      "application" -> JString(RunningTask.applicationId),
      "task" -> RunningTask.toJson(context),
      "tried_again" -> JBool(RunningTask.isTriedAgain(context)),
      "broadcasts" -> JArray(broadcastsJson.toList),
      "files_dir" -> JString(filesDirectory),
      "files_of_session" -> JBool(settings.jobArtifactUUID.isDefined),
      "python_includes" -> JArray(
        functions.flatMap(_.pythonIncludes.asScala).distinct.map(JString(_)).toList),
      "environment" -> FunctionsSpec.toJson(variables),
      "session_log" -> sessionLog.fold[JValue](JNull)(JInt(_)))
    compact(render(JObject(kindJson ++ surroundings))).getBytes(UTF_8)
  }

  /** Adds what the functions added to their accumulators during a task that succeeded. */
  def addAccumulatorUpdates(updates: Iterable[Array[Byte]]): Unit =
    Option(functions.head.accumulator).foreach(accumulator => updates.foreach(accumulator.add))

  protected def commandsJson(chain: Seq[PythonFunction]): JArray = JArray(chain.map { function =>
    JString(Base64.getEncoder.encodeToString(function.command.toArray))
  }.toList)

  private def broadcastsJson: Seq[JValue] =
    functions.flatMap(_.broadcastVars.asScala).distinctBy(_.id).map { broadcast =>
      JArray(List(JInt(broadcast.id), JString(broadcast.value.path)))
    }

  private def filesDirectory: String = {
    val root = SparkFiles.getRootDirectory()
    settings.jobArtifactUUID.fold(root)(uuid => new File(root, uuid).getAbsolutePath)
  }
}

/** What makes a function a table function. */
case class TableFunction(
    partitionColumns: Seq[Int],
    analyzeResult: Option[Array[Byte]],
    elementSchema: StructType) {

  private[pyflow] def toJson: JObject = JObject(
    "partition_child_indexes" -> JArray(partitionColumns.map(JInt(_)).toList),
    "analyze_result" -> analyzeResult.fold[JValue](JNull) { pickled =>
      JString(Base64.getEncoder.encodeToString(pickled))
    },
    "return_type" -> JString(elementSchema.json))
}

object TableFunction {
  def apply(udtf: PythonUDTF): TableFunction = TableFunction(
    udtf.pythonUDTFPartitionColumnIndexes.fold(Seq.empty[Int])(_.partitionChildIndexes),
    udtf.pickledAnalyzeResult,
    udtf.elementSchema)
}

object FunctionsSpec {
  private[pyflow] def toJson(values: Map[String, String]): JObject =
    JObject(values.toList.map { case (key, value) => key -> JString(value) })
}
