package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions.{PythonFuncExpression, PythonUDF, PythonUDTF}

import io.pyflow.admission.FunctionIdentity
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.expressions.EmbeddedFunctions
import io.pyflow.spec.{BoundArguments, ProgramSpec}

/** Functions as expressions have them: called by row, and only in the executor's JVM. */
private[planning] object Embedded {

  /** Functions that are one call. */
  def functions(udfs: Seq[PythonUDF], evalType: Int, bound: BoundArguments): EmbeddedFunctions = {
    val settings = settingsOf(udfs.head, evalType)
    embedded(udfs, ProgramSpec(udfs, bound, evalType, settings.worker), settings)
  }

  def tableFunction(udtf: PythonUDTF, bound: BoundArguments): EmbeddedFunctions = {
    val settings = settingsOf(udtf, udtf.evalType)
    embedded(
      Seq(udtf),
      ProgramSpec(udtf, bound.ofFunctions.head, bound.schema, settings.worker),
      settings)
  }

  private def embedded(
      functions: Seq[PythonFuncExpression],
      spec: ProgramSpec,
      settings: ThreadModeSettings): EmbeddedFunctions = EmbeddedFunctions(
    spec,
    functions.map(_.dataType),
    functions.forall(_.deterministic),
    functions.flatMap(FunctionIdentity.of),
    settings)

  private def settingsOf(function: PythonFuncExpression, evalType: Int): ThreadModeSettings =
    ThreadModeStrategy.settings(function, evalType).copy(auto = false, fallback = false)
}
