package io.pyflow.planning

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, ColumnarToRowExec, SparkPlan}
import org.apache.spark.sql.internal.SQLConf

import io.pyflow.execution.ThreadArrowEvalPythonExec

/** Lets operators have the batches of a columnar child, which Spark would have turned into rows. */
object ColumnarInput extends ColumnarRule {
  override def postColumnarTransitions: Rule[SparkPlan] = WithoutTransitions

  private object WithoutTransitions extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      if (SQLConf.get.arrowPySparkUDFColumnarInputEnabled) {
        plan.transformUp { case evaluation: ThreadArrowEvalPythonExec =>
          evaluation.child match {
            case ColumnarToRowExec(columnar) => evaluation.copy(child = columnar)
            case _ => evaluation
          }
        }
      } else {
        plan
      }
  }
}
