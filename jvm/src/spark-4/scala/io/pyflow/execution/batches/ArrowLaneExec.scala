package io.pyflow.execution.batches

import org.apache.spark.sql.catalyst.expressions.PythonUDTF
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.PythonSQLMetrics
import org.apache.spark.sql.pyflow.FunctionMetrics
import org.apache.spark.sql.types.StructType

import io.pyflow.admission.FunctionIdentity
import io.pyflow.execution.ThreadModeExec
import io.pyflow.spec.{Argument, BatchSpec, InputShape}

/** An operator whose functions work on Arrow batches. */
trait ArrowLaneExec extends ThreadModeExec with PythonSQLMetrics {
  protected def pythonEvalType: Int

  override protected def interpreter: String = "shared"

  protected lazy val functionMetrics: FunctionMetrics = FunctionMetrics(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] =
    functionMetrics.beside(pythonMetrics ++ laneMetrics)

  protected def laneMetrics: Map[String, SQLMetric] =
    BatchMetrics.create(sparkContext)

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
    val spec = BatchSpec(
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
      BatchMetrics(metrics, functionMetrics),
      udtf,
      pythonMetrics)
  }
}
