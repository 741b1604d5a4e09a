package io.pyflow.planning

import scala.annotation.unused

import org.apache.spark.sql.catalyst.expressions.PythonUDF
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkPlan

/** Spark 4.1 has no operator that keeps state in real-time mode. */
private[planning] object RealTimeTransformWithState {
  def apply(state: RealTimeState)(@unused planned: LogicalPlan => SparkPlan): SparkPlan = {
    val name = state.stateful.functionExpr match {
      case udf: PythonUDF => udf.name
      case other => other.toString
    }
    throw new RealTimeModeRefusalException(name, "Spark 4.1 keeps no state there")
  }
}
