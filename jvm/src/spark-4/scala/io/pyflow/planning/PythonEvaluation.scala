package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, PythonUDF}
import org.apache.spark.sql.catalyst.plans.logical.{ArrowEvalPython, BatchEvalPython, LogicalPlan}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.{ArrowEvalPythonExec, BatchEvalPythonExec}
import org.apache.spark.sql.pyflow.PythonFunctions

/** Python functions of one row each, as Spark's optimizer has collected them over one child. */
case class PythonEvaluation(
    udfs: Seq[PythonUDF],
    resultAttributes: Seq[Attribute],
    child: LogicalPlan,
    evalType: Int) {

  def output: Seq[Attribute] = child.output ++ resultAttributes

  /** The columns of the output that the expressions refer to. */
  def columnsFor(expressions: Seq[Expression]): Seq[Attribute] = {
    val referred = AttributeSet.fromAttributeSets(expressions.map(_.references))
    output.filter(referred.contains)
  }

  def functionNames: String = udfs.map(PythonFunctions.nameOf).mkString(", ")

  /** As the optimizer has it. */
  def logical: LogicalPlan =
    if (evalType == PythonFunctions.PickledEvalType) {
      BatchEvalPython(udfs, resultAttributes, child)
    } else {
      ArrowEvalPython(udfs, resultAttributes, child, evalType)
    }

  /** What Spark itself would run these functions with. */
  def workerOperator(physicalChild: SparkPlan): SparkPlan =
    if (evalType == PythonFunctions.PickledEvalType) {
      BatchEvalPythonExec(udfs, resultAttributes, physicalChild)
    } else {
      ArrowEvalPythonExec(udfs, resultAttributes, physicalChild, evalType)
    }
}

object PythonEvaluation {
  def unapply(plan: LogicalPlan): Option[PythonEvaluation] = plan match {
    case BatchEvalPython(udfs, resultAttributes, child) =>
      Some(PythonEvaluation(udfs, resultAttributes, child, PythonFunctions.PickledEvalType))
    case ArrowEvalPython(udfs, resultAttributes, child, evalType) =>
      Some(PythonEvaluation(udfs, resultAttributes, child, evalType))
    case _ => None
  }
}
