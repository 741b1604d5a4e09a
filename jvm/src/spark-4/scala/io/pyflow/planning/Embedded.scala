package io.pyflow.planning

import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.expressions.{PythonFuncExpression, PythonUDF, PythonUDTF}
import org.apache.spark.sql.internal.SQLConf

import io.pyflow.admission.FunctionIdentity
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.batches.{ArrowLane, BatchMetrics}
import io.pyflow.execution.expressions.{EmbeddedBatchFunctions, EmbeddedRowFunctions}
import io.pyflow.spec.{BatchSpec, BoundArguments, InBatches, ProgramSpec}

/** Functions as expressions have them: called by row, and only in the executor's JVM. */
private[planning] object Embedded {
  private val Advice =
    "It is called in a lambda, in the condition of an outer join or in real-time mode, where process " +
      "mode has no Python functions."

  /** Plain functions that are one call. */
  def functions(
      udfs: Seq[PythonUDF],
      evalType: Int,
      bound: BoundArguments): EmbeddedRowFunctions = {
    val settings = settingsOf(udfs.head, evalType)
    embedded(udfs, ProgramSpec(udfs, bound, evalType, settings.worker), settings)
  }

  def tableFunction(udtf: PythonUDTF, bound: BoundArguments): EmbeddedRowFunctions = {
    val settings = settingsOf(udtf, udtf.evalType)
    val spec = ProgramSpec(udtf, bound.ofFunctions.head, bound.schema, settings.worker)
    embedded(Seq(udtf), spec, settings)
  }

  private def embedded(
      functions: Seq[PythonFuncExpression],
      spec: ProgramSpec,
      settings: ThreadModeSettings): EmbeddedRowFunctions = EmbeddedRowFunctions(
    spec,
    functions.map(_.dataType),
    functions.forall(_.deterministic),
    functions.flatMap(FunctionIdentity.of),
    settings)

  /** Scalar functions over Arrow batches that are one call. */
  def batchFunctions(
      udfs: Seq[PythonUDF],
      evalType: Int,
      bound: BoundArguments): EmbeddedBatchFunctions = {
    val settings = settingsOf(udfs.head, evalType)
    val spec = BatchSpec(
      udfs,
      evalType,
      InBatches,
      Seq(bound.schema),
      bound.ofFunctions,
      inStruct = false,
      SQLConf.get,
      settings.worker)
    val metrics = BatchMetrics.notShown(SparkContext.getOrCreate())
    val identities = udfs.flatMap(FunctionIdentity.of)
    val lane = ArrowLane(spec, settings, identities, metrics, None, Map.empty)
    EmbeddedBatchFunctions(spec.calls, lane, udfs.map(_.dataType), udfs.forall(_.deterministic))
  }

  private def settingsOf(function: PythonFuncExpression, evalType: Int): ThreadModeSettings =
    ThreadModeStrategy.settings(function, evalType).only(Advice)
}
