package io.pyflow.plugin

import org.apache.spark.sql.catalyst.expressions.PythonFuncExpression
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.internal.SQLConf

import io.pyflow.execution.fallback.ProcessModeExec

/**
 * All that the jar does on another Spark than that it was built for: tells, in the plans of sessions
 * that ask for thread mode, which jar is wanted.
 */
class OtherSpark(reason: String) extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = Noted

  private object Noted extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      SQLConf.get.getConfString(OtherSpark.ModeKey, "") match {
        case "thread" | "auto" => noted(plan)
        case _ => plan
      }

    private def noted(plan: SparkPlan): SparkPlan = plan match {
      case already: ProcessModeExec => already
      case other =>
        val onChildren = other.withNewChildren(other.children.map(noted))
        val functions = onChildren.expressions.flatMap(_.collect {
          case function: PythonFuncExpression => function.toString
        })
        if (functions.isEmpty || !OtherSpark.isStateless(other)) onChildren
        else ProcessModeExec(functions, reason, onChildren)
    }
  }
}

private object OtherSpark {
  private val ModeKey = "spark.pyflow.execution-mode"

  /** Spark looks for the operators of streams by their places. */
  private def isStateless(plan: SparkPlan): Boolean =
    plan.getClass.getPackageName == "org.apache.spark.sql.execution.python"
}
