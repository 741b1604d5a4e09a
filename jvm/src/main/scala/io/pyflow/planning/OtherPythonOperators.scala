package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions.PythonFuncExpression
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.execution.datasources.v2.python.PythonScan
import org.apache.spark.sql.execution.python.streaming.{FlatMapGroupsInPandasWithStateExec, TransformWithStateInPySparkExec}
import org.apache.spark.sql.internal.SQLConf

import io.pyflow.execution.ProcessModeExec
import io.pyflow.plugin.PyFlowConf

/**
 * Gives operators a reason for process mode that thread mode has no counterpart of. Spark plans them
 * where no strategy of ours comes before, or from more than Python functions.
 */
object OtherPythonOperators extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = WithReasons

  private object WithReasons extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      if (PyFlowConf.isProcessMode(SQLConf.get)) plan else withReasons(plan)

    private def withReasons(plan: SparkPlan): SparkPlan = plan match {
      case noted: ProcessModeExec => noted.copy(child = onChildren(noted.child))
      case stateful: FlatMapGroupsInPandasWithStateExec =>
        noted(stateful.functionExpr, "it keeps state in a stream", onChildren(stateful))
      case stateful: TransformWithStateInPySparkExec =>
        noted(stateful.functionExpr, "it keeps state in a stream", onChildren(stateful))
      case scan @ BatchScanExec(_, source: PythonScan, _, _, _, _) =>
        val name = source.description()
        InProcessMode(Seq(name), "it reads a Python data source", name, scan)
      case other => onChildren(other)
    }

    private def onChildren(plan: SparkPlan): SparkPlan =
      plan.withNewChildren(plan.children.map(withReasons))

    private def noted(function: Any, reason: String, operator: SparkPlan): SparkPlan =
      function match {
        case udf: PythonFuncExpression =>
          InProcessMode(Seq(udf.toString), reason, udf.name, operator)
        case other => InProcessMode(Seq(other.toString), reason, other.toString, operator)
      }
  }
}
