package io.pyflow.planning

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec

import io.pyflow.execution.state.ControlRowsExec

/** Puts [[ControlRowsExec]] below the operators of data streams that keep state, in both modes. */
object ControlRows extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = Planned

  private object Planned extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transform {
      case stateful: TransformWithStateInPySparkExec if hasControlRows(stateful) =>
        stateful.copy(child = ControlRowsExec(stateful.child))
    }
  }

  private def hasControlRows(stateful: TransformWithStateInPySparkExec): Boolean =
    stateful.isStreaming &&
      stateful.groupingAttributes.headOption.exists(_.name == ControlRowsExec.Target) &&
      !stateful.child.isInstanceOf[ControlRowsExec]
}
