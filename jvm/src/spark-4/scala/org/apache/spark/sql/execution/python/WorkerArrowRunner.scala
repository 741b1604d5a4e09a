package org.apache.spark.sql.execution.python

import org.apache.spark.TaskContext
import org.apache.spark.api.python.ChainedPythonFunctions
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.PythonUDTF
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.EvalPythonExec.ArgumentMetadata
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.pyflow.spec.{BatchSpec, ColumnarCall}

/**
 * Runs functions over Arrow batches in Spark's Python workers, for a task that must not run them in
 * the JVM although the query was planned so. Lives in Spark's package because the parts of its
 * runners do.
 */
class WorkerArrowRunner(
    spec: BatchSpec,
    udtf: Option[PythonUDTF],
    runnerConf: Map[String, String],
    metrics: Map[String, SQLMetric],
    jobArtifactUUID: Option[String])
  extends Serializable {

  private def functions: Seq[(ChainedPythonFunctions, Long)] =
    spec.calls.map(call => (ChainedPythonFunctions(call.chain.map(_.function)), call.resultId))

  private def arguments(call: ColumnarCall): Array[ArgumentMetadata] =
    call.arguments.map { argument =>
      ArgumentMetadata(argument.column, argument.keyword, argument.isTable)
    }.toArray

  def stream(rows: Iterator[InternalRow], context: TaskContext): Iterator[ColumnarBatch] = {
    val runner = udtf.map(tableFunctionRunner).getOrElse(new Runner with BatchedPythonArrowInput)
    runner.compute(Iterator(inPython(rows)), context.partitionId(), context)
  }

  private def inPython(rows: Iterator[InternalRow]): Iterator[InternalRow] =
    if (spec.inStruct) rows.map(InternalRow(_)) else rows

  private def tableFunctionRunner(udtf: PythonUDTF) = new ArrowPythonUDTFRunner(
    udtf,
    spec.evalType,
    arguments(spec.calls.head),
    spec.pythonSchemas.head,
    spec.timeZone,
    spec.largeVarTypes,
    runnerConf,
    metrics,
    jobArtifactUUID,
    None)

  def batches(
      batches: Iterator[Iterator[InternalRow]],
      context: TaskContext): Iterator[ColumnarBatch] =
    (new Runner with BasicPythonArrowInput).compute(batches, context.partitionId(), context)

  def groups(
      groups: Iterator[Iterator[InternalRow]],
      context: TaskContext): Iterator[ColumnarBatch] =
    (new Runner with GroupedPythonArrowInput)
      .compute(groups.map(inPython), context.partitionId(), context)

  def cogroups(
      cogroups: Iterator[(Iterator[InternalRow], Iterator[InternalRow])],
      context: TaskContext): Iterator[ColumnarBatch] =
    new CogroupsRunner(
      functions,
      spec.evalType,
      spec.calls.map(_.arguments.map(_.column).toArray).toArray,
      spec.schemas.head,
      spec.schemas.last,
      spec.timeZone,
      spec.largeVarTypes,
      runnerConf,
      metrics,
      jobArtifactUUID).compute(cogroups, context.partitionId(), context)

  private abstract class Runner
    extends BatchesRunner(
      functions,
      spec.evalType,
      spec.calls.map(arguments).toArray,
      spec.pythonSchemas.head,
      spec.timeZone,
      spec.largeVarTypes,
      runnerConf,
      metrics,
      jobArtifactUUID)
}
