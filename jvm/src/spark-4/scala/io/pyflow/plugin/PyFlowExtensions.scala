package io.pyflow.plugin

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}

import io.pyflow.config.{PyFlowConf, SparkCompatibility}
import io.pyflow.connectors.JdbcLookup
import io.pyflow.execution.expressions.UnpickledRows
import io.pyflow.planning.{ColumnarInput, ControlRows, PythonInJoins, PythonInLambdas, PythonInPlans, PythonInPredicates, RealTimeStrategy, SourceAndStateOperators, StatefulStrategy, StateOfStreams, ThreadModeStrategy}

/**
 * Adds thread mode's planning to every session of an application. The plugin registers it; where no
 * plugin can be set, it stands in spark.sql.extensions.
 */
final class PyFlowExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit =
    if (SparkCompatibility.check(SPARK_VERSION)) {
      PyFlowConf.register()
      extensions.injectPostHocResolutionRule(_ => PythonInPlans)
      extensions.injectPostHocResolutionRule(_ => PythonInLambdas)
      extensions.injectOptimizerRule(_ => PythonInPredicates)
      extensions.injectPreCBORule(_ => PythonInJoins)
      extensions.injectPreCBORule(_ => StateOfStreams)
      extensions.injectPlannerStrategy(_ => StatefulStrategy)
      extensions.injectPlannerStrategy(_ => RealTimeStrategy)
      extensions.injectPlannerStrategy(_ => ThreadModeStrategy)
      extensions.injectColumnar(_ => ControlRows)
      extensions.injectColumnar(_ => SourceAndStateOperators)
      // Plans that are executed adaptively come there stage by stage, when they run; EXPLAIN comes
      // before that.
      extensions.injectQueryStagePrepRule(_ => SourceAndStateOperators.preColumnarTransitions)
      extensions.injectColumnar(_ => ColumnarInput)
      injectFunction(extensions, JdbcLookup.Name, classOf[JdbcLookup], JdbcLookup.of)
      injectFunction(extensions, UnpickledRows.Name, classOf[UnpickledRows], UnpickledRows.of)
    } else {
      SparkCompatibility
        .mismatch(SPARK_VERSION)
        .ifPresent(reason => extensions.injectColumnar(_ => new OtherSpark(reason)))
    }
  private def injectFunction(
      extensions: SparkSessionExtensions,
      name: String,
      expression: Class[_ <: Expression],
      make: Seq[Expression] => Expression): Unit =
    extensions.injectFunction(
      (FunctionIdentifier(name), new ExpressionInfo(expression.getName, name), make))
}
