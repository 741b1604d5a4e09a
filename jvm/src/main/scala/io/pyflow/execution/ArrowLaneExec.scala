package io.pyflow.execution

import org.apache.spark.sql.catalyst.expressions.PythonUDF
import org.apache.spark.sql.catalyst.util.truncatedString
import org.apache.spark.sql.execution.{ExplainUtils, SparkPlan}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.{PythonSQLMetrics, SparksArrowRunner}
import org.apache.spark.sql.pyflow._
import org.apache.spark.sql.types.StructType

/** What the operators have in common whose functions work on Arrow batches in the executor's JVM. */
trait ArrowLaneExec extends SparkPlan with PythonSQLMetrics {
  def functions: Seq[PythonUDF]

  def settings: ThreadModeSettings

  protected def pythonEvalType: Int

  override protected def additionalMetrics: Map[String, SQLMetric] =
    StreamMetrics.create(sparkContext)

  /**
   * @param schemas of the input: two for cogroups, otherwise one
   * @param arguments of each function
   */
  protected def lane(
      shape: InputShape,
      schemas: Seq[StructType],
      arguments: Seq[Seq[Argument]]): ArrowLane = {
    val calls = functions.zip(arguments).map { case (udf, args) =>
      ColumnarCall(
        PythonFunctions.nameOf(udf),
        PythonFunctions.unchain(udf)._1,
        args,
        udf.resultId.id)
    }
    val spec = new StreamSpec(
      pythonEvalType,
      shape,
      schemas,
      conf.sessionLocalTimeZone,
      conf.arrowUseLargeVarTypes,
      calls,
      settings.worker)
    new ArrowLane(
      spec,
      settings,
      conf.arrowMaxBytesPerBatch,
      functions.flatMap(PythonFunctions.identities),
      StreamMetrics(metrics),
      new SparksArrowRunner(
        spec,
        settings.worker.runnerConf,
        pythonMetrics,
        settings.worker.jobArtifactUUID))
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
