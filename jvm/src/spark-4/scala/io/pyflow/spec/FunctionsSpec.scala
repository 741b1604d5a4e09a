package io.pyflow.spec

import java.io.File
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.{Base64, HexFormat}

import org.apache.spark.{SparkEnv, SparkFiles, TaskContext}
import org.apache.spark.sql.catalyst.expressions.PythonUDTF
import org.apache.spark.sql.pyflow.{PickledFunction, RunningTask}
import org.apache.spark.sql.types.StructType
import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.{compact, render}

import io.pyflow.config.{LogLevels, WorkerSettings}

/**
 * All that Python has to know to run the functions of one operator. Made on the driver; a task
 * renders it to JSON, together with the surroundings of the task.
 */
abstract class FunctionsSpec extends Serializable {
  def evalType: Int

  protected def settings: WorkerSettings

  /** All functions, those within chains too. */
  protected def functions: Seq[PickledFunction]

  /** For messages. */
  def functionNames: String

  /** What this kind of functions needs beside its surroundings. */
  protected def kindJson: List[JField]

  /** The Python the functions were pickled with, "3.13". */
  def pythonVersion: String = functions.head.pythonVersion

  /** Variables that the driver's Python wants in the environment of its functions. */
  def environment: Map[String, String] = functions.head.environment

  /** The session whose `python_worker_logs()` shows what the functions log. */
  def loggingSession: Option[String] = settings.loggingSession

  /** Whether functions may import modules that other sessions do not have, or have others of. */
  def hasSessionModules: Boolean = settings.modulesOfSession.isDefined

  /** Whether an interpreter may refuse to load the functions, which workers can run then. */
  def mayBeRefused: Boolean =
    hasSessionModules || includes.exists(_.startsWith(FunctionsSpec.RequirementsPrefix))

  /** Equal for the same functions in any operator, task and query. */
  lazy val commandsDigest: String = FunctionsSpec.commandsDigest(functions)

  /** @param sessionLog the number of the log for [[loggingSession]] */
  def toJson(context: TaskContext, sessionLog: Option[Long]): Array[Byte] = {
    val variables = FunctionEnvironment.of(environment, context) ++
      loggingSession.map(session => "PYSPARK_SPARK_SESSION_UUID" -> Some(session))
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
      "modules_of_session" -> JBool(hasSessionModules),
      "python_includes" -> JArray(includes.map(JString(_)).toList),
      "environment" -> JObject(variables.toList.map { case (name, value) =>
        name -> value.fold[JValue](JNull)(JString(_))
      }),
      "log_fields" -> FunctionsSpec.toJson(RunningTask.logFields(context, functionNames)),
      "log_levels" -> settings.logLevels.fold[JValue](JNull)(FunctionsSpec.toJson),
      "session_log" -> sessionLog.fold[JValue](JNull)(JInt(_)))
    compact(render(JObject(kindJson ++ surroundings))).getBytes(UTF_8)
  }

  /** Adds what the functions added to their accumulators during a task that succeeded. */
  def addAccumulatorUpdates(updates: Iterable[Array[Byte]]): Unit =
    functions.head.addAccumulatorUpdates(updates)

  protected def commandsJson(chain: Seq[PickledFunction]): JArray = JArray(chain.map { function =>
    JString(Base64.getEncoder.encodeToString(function.command))
  }.toList)

  private def broadcastsJson: Seq[JValue] =
    functions.flatMap(_.broadcasts).distinctBy(_._1).map { case (id, file) =>
      JArray(List(JInt(id), JString(file)))
    }

  private def includes: Seq[String] =
    (FunctionsSpec.requirements ++ functions.flatMap(_.includes)).distinct

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

  private[spec] def toJson: JObject = JObject(
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
  private val RequirementsPrefix = "pyflow-requirements-"
  private val Requirements = s"#($RequirementsPrefix\\w+)".r

  /**
   * The directories that archives of `pyflow run -pyreq` are unpacked into; workers have them on
   * their PYTHONPATH.
   */
  private def requirements: Seq[String] = Requirements
    .findAllMatchIn(SparkEnv.get.conf.get("spark.archives", ""))
    .map(_.group(1))
    .toSeq

  /** @param functions of an operator, those of a chain innermost first */
  def commandsDigest(functions: Seq[PickledFunction]): String = {
    val digest = MessageDigest.getInstance("SHA-256")
    functions.foreach { function =>
      val command = function.command
      digest.update(ByteBuffer.allocate(4).putInt(command.length).array())
      digest.update(command)
    }
    HexFormat.of().formatHex(digest.digest())
  }

  private def toJson(levels: LogLevels): JValue = JObject(
    "default" -> JInt(levels.default),
    "of_loggers" -> JObject(levels.ofLoggers.toList.map { case (name, level) =>
      name -> JInt(level)
    }))

  private[spec] def toJson(values: Map[String, String]): JObject =
    JObject(values.toList.map { case (key, value) => key -> JString(value) })
}
