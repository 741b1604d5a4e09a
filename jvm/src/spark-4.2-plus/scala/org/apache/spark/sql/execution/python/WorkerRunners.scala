package org.apache.spark.sql.execution.python

import org.apache.spark.api.python.ChainedPythonFunctions
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
    None)

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
    None)
