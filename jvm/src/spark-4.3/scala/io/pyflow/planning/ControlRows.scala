package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SortExec, SparkPlan}

import io.pyflow.execution.state.ControlRowsExec

/** Puts [[ControlRowsExec]] between the sort and the operator of a stage of data streams. */
object ControlRows extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = Planned

  private object Planned extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan match {
      case ControlRowsExec(sort) => ControlRowsExec(onChildren(sort))
      case sort: SortExec if isByTarget(sort) => ControlRowsExec(onChildren(sort))
      case other => onChildren(other)
    }

    private def onChildren(plan: SparkPlan): SparkPlan =
      plan.withNewChildren(plan.children.map(apply))
  }

  private def isByTarget(sort: SortExec): Boolean =
    !sort.global && sort.sortOrder.headOption.map(_.child).exists {
      case attribute: Attribute => attribute.name == ControlRowsExec.Target
      case _ => false
    }
}
