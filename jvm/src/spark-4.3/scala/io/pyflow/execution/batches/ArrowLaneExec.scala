package io.pyflow.execution.batches

import org.apache.spark.sql.catalyst.expressions.{PythonFuncExpression, PythonUDTF}
import org.apache.spark.sql.catalyst.util.truncatedString
import org.apache.spark.sql.execution.{ExplainUtils, SparkPlan}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.PythonSQLMetrics
import org.apache.spark.sql.types.StructType

import io.pyflow.admission.FunctionIdentity
import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.{Argument, InputShape, StreamSpec}

/** What the operators have in common whose functions work on Arrow batches in the executor's JVM. */
trait ArrowLaneExec extends SparkPlan with PythonSQLMetrics {
  def functions: Seq[PythonFuncExpression]

  def settings: ThreadModeSettings

  protected def pythonEvalType: Int

  override protected def additionalMetrics: Map[String, SQLMetric] =
    StreamMetrics.create(sparkContext)

  /**
   * @param schemas of the input: two for cogroups, otherwise one
   * @param arguments of each function
   * @param inStruct whether Python gets the columns as the fields of its only column
   * @param runnerConf what Python is told beside the session's settings
   * @param evalConf what Python is told about this evaluation
   */
  protected def lane(
      shape: InputShape,
      schemas: Seq[StructType],
      arguments: Seq[Seq[Argument]],
      inStruct: Boolean = false,
      runnerConf: Map[String, String] = Map.empty,
      evalConf: Map[String, String] = Map.empty): ArrowLane = {
    val worker = settings.worker.copy(runnerConf = settings.worker.runnerConf ++ runnerConf)
    val udtf = functions.collectFirst { case udtf: PythonUDTF => udtf }
    val spec = StreamSpec(
      functions,
      pythonEvalType,
      shape,
      schemas,
      arguments,
      inStruct,
      conf,
      worker,
      evalConf)
    ArrowLane(
      spec,
      settings,
      functions.flatMap(FunctionIdentity.of),
      StreamMetrics(metrics),
      udtf,
      pythonMetrics)
  }

  override def simpleString(maxFields: Int): String = {
    val named = truncatedString(functions, "[", ", ", "]", maxFields)
    s"$nodeName $named, interpreter: shared, output ${truncatedString(output, "[", ", ", "]", maxFields)}"
  }

  override def verboseStringWithOperatorId(): String =
    s"""$formattedNodeName
       |${ExplainUtils.generateFieldString("Functions", functions)}
       |Interpreter: shared
       |${ExplainUtils.generateFieldString("Output", output)}
       |""".stripMargin
}
