package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, PythonUDF}
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, FlatMapGroupsInPandasWithState, LogicalPlan, TransformWithStateInPySpark}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.pyflow.PythonFunctions

/**
 * `transformWithState` over a stream in real-time mode. It is a node of its own, because Spark's
 * strategies for streams come before all others and would plan PySpark's operator.
 *
 * @param of which it stands for, whose children it has
 */
private[planning] case class RealTimeState(
    of: TransformWithStateInPySpark,
    left: LogicalPlan,
    right: LogicalPlan)
  extends BinaryNode {

  def stateful: TransformWithStateInPySpark = of.copy(child = left, initialState = right)

  override def output: Seq[Attribute] = of.output

  override def producedAttributes: AttributeSet = of.producedAttributes

  @transient override lazy val references: AttributeSet = left.outputSet ++ right.outputSet

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan): RealTimeState = copy(left = newLeft, right = newRight)
}

/** Puts [[RealTimeState]] in its place, and refuses other functions that keep state. */
object StateInRealTimeMode extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case stateful: TransformWithStateInPySpark if isAllowed(stateful, stateful.functionExpr) =>
      RealTimeState(stateful, stateful.left, stateful.right)
    case stateful: FlatMapGroupsInPandasWithState if isAllowed(stateful, stateful.functionExpr) =>
      stateful
  }

  private def isAllowed(plan: LogicalPlan, function: Expression): Boolean = function match {
    case udf: PythonUDF if RealTimeScan.isBelow(plan) =>
      RealTimeStrategy.isAllowed(Seq(udf), udf.evalType) && {
        if (!PythonFunctions.keepsStateOverRows(udf.evalType)) {
          throw RealTimeStrategy
            .notByRow(udf, "as a processor for transformWithState, which takes rows")
        }
        true
      }
    case _ => false
  }
}
