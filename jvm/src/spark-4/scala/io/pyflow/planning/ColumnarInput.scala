package io.pyflow.planning

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, ColumnarToRowExec, SparkPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.PythonFunctions.ArrowEvalType
import org.apache.spark.sql.pyflow.Setting

import io.pyflow.execution.batches.ThreadArrowEvalPythonExec
import io.pyflow.execution.rows.ThreadEvalPythonExec

/** Lets operators have the batches of a columnar child, which Spark would have turned into rows. */
object ColumnarInput extends ColumnarRule {

  /** Since Spark 4.2. */
  private val Enabled = "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled"

  override def postColumnarTransitions: Rule[SparkPlan] = WithoutTransitions

  /** Matches operators whose functions get Arrow batches in process mode, over a columnar child. */
  private object OverColumns {
    def unapply(plan: SparkPlan): Option[SparkPlan] = plan match {
      case ThreadArrowEvalPythonExec(_, _, _, _, _, ColumnarToRowExec(columnar)) => Some(columnar)
      case ThreadEvalPythonExec(_, _, _, ArrowEvalType, _, ColumnarToRowExec(columnar)) =>
        Some(columnar)
      case _ => None
    }
  }

  private object WithoutTransitions extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      if (Setting.isOn(SQLConf.get, Enabled)) {
        plan.transformUp { case evaluation @ OverColumns(columnar) =>
          evaluation.withNewChildren(Seq(columnar))
        }
      } else {
        plan
      }
  }
}
