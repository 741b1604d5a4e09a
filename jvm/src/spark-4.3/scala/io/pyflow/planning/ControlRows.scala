package io.pyflow.planning

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec

import io.pyflow.execution.state.ControlRowsExec

/** Puts the rows of [[ControlRowsExec]] below the operators of data streams that keep state. */
object ControlRows extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = Planned

  private object Planned extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transform {
      case stateful: TransformWithStateInPySparkExec if hasControlRows(stateful) =>
        val child = stateful.child
        val rows =
          if (RealTimeScan.isBelow(child)) ControlRowsExec.ofSpark(child)
          else ControlRowsExec(child)
        stateful.copy(child = rows)
    }
  }

  private def hasControlRows(stateful: TransformWithStateInPySparkExec): Boolean =
    stateful.isStreaming &&
      stateful.groupingAttributes.headOption.exists(_.name == ControlRowsExec.Target) &&
      !ControlRowsExec.isIn(stateful.child)
}
