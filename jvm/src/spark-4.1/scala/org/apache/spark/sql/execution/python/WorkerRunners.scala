package org.apache.spark.sql.execution.python

import java.io.DataOutputStream

import org.apache.spark.api.python.{ChainedPythonFunctions, PythonEvalType}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.EvalPythonExec.ArgumentMetadata
import org.apache.spark.sql.types.StructType

/** Spark's runner of functions over batches, without a session for their logs. */
private[python] abstract class BatchesRunner(
    functions: Seq[(ChainedPythonFunctions, Long)],
    evalType: Int,
    arguments: Array[Array[ArgumentMetadata]],
    schema: StructType,
    timeZone: String,
    largeVarTypes: Boolean,
    runnerConf: Map[String, String],
    pythonMetrics: Map[String, SQLMetric],
    jobArtifactUUID: Option[String])
  extends ArrowPythonWithNamedArgumentRunner(
    functions,
    evalType,
    arguments,
    schema,
    timeZone,
    largeVarTypes,
    runnerConf,
    pythonMetrics,
    jobArtifactUUID,
    None,
    None) {

  /** Workers of Spark 4.1 read names of arguments for those functions alone that take them. */
  override protected def writeUDF(dataOut: DataOutputStream): Unit =
    if (BatchesRunner.WithoutNames(evalType)) {
      val columns = arguments.map(_.map(_.offset))
      PythonUDFRunner.writeUDFs(dataOut, functions, columns, None)
    } else {
      super.writeUDF(dataOut)
    }
}

private object BatchesRunner {
  import PythonEvalType._

  private val WithoutNames = Set(
    SQL_MAP_PANDAS_ITER_UDF,
    SQL_MAP_ARROW_ITER_UDF,
    SQL_GROUPED_MAP_PANDAS_UDF,
    SQL_GROUPED_MAP_PANDAS_ITER_UDF,
    SQL_GROUPED_MAP_ARROW_UDF,
    SQL_GROUPED_MAP_ARROW_ITER_UDF)
}

/** Spark's runner of functions over cogroups, without a session for their logs. */
private[python] class CogroupsRunner(
    functions: Seq[(ChainedPythonFunctions, Long)],
    evalType: Int,
    columns: Array[Array[Int]],
    leftSchema: StructType,
    rightSchema: StructType,
    timeZone: String,
    largeVarTypes: Boolean,
    runnerConf: Map[String, String],
    pythonMetrics: Map[String, SQLMetric],
    jobArtifactUUID: Option[String])
  extends CoGroupedArrowPythonRunner(
    functions,
    evalType,
    columns,
    leftSchema,
    rightSchema,
    timeZone,
    largeVarTypes,
    runnerConf,
    pythonMetrics,
    jobArtifactUUID,
    None,
    None)
