package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions.PythonUDTF
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{GENERATE, PYTHON_UDF}

import io.pyflow.admission.PythonStart
import io.pyflow.config.PyFlowConf

/**
 * Starts Python in a driver that runs tasks itself, while the first query with functions is being
 * planned. What is not seen here, such as functions of RDDs, has its first task start it.
 */
object PythonInPlans extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (PythonStart.isDeferred && !PyFlowConf.isProcessMode(conf) && hasFunctions(plan)) {
      PythonStart.beginDeferred()
    }
    plan
  }

  private def hasFunctions(plan: LogicalPlan): Boolean =
    plan.containsPattern(PYTHON_UDF) || plan.containsPattern(GENERATE) && plan.exists {
      case Generate(_: PythonUDTF, _, _, _, _, _) => true
      case _ => false
    }
}
