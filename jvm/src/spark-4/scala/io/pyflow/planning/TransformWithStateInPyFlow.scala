package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, PythonUDF}
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, FlatMapGroupsInPandasWithState, LogicalPlan, TransformWithStateInPySpark}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.pyflow.{OperatorMetadata, PythonFunctions}

/**
 * `transformWithState` over a stream, where [[TransformWithStateInPyFlowExec]] is to be planned. It is a
 * node of its own, because Spark's strategies for streams come before all others and would plan
 * PySpark's operator.
 *
 * @param of which it stands for, whose children it has
 */
private[planning] case class TransformWithStateInPyFlow(
    of: TransformWithStateInPySpark,
    left: LogicalPlan,
    right: LogicalPlan)
  extends BinaryNode {

  def stateful: TransformWithStateInPySpark = of.copy(child = left, initialState = right)

  /** Plans show what it stands for. */
  override def simpleString(maxFields: Int): String = stateful.simpleString(maxFields)

  override def output: Seq[Attribute] = of.output

  override def producedAttributes: AttributeSet = of.producedAttributes

  @transient override lazy val references: AttributeSet = left.outputSet ++ right.outputSet

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan): TransformWithStateInPyFlow = copy(left = newLeft, right = newRight)
}

/**
 * Puts [[TransformWithStateInPyFlow]] in its place in real-time mode, and where an operator declares its
 * state. Refuses other functions that keep state in real-time mode.
 */
object StateOfStreams extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case stateful: TransformWithStateInPySpark if isPlanned(stateful) =>
      TransformWithStateInPyFlow(stateful, stateful.left, stateful.right)
    case stateful: FlatMapGroupsInPandasWithState
        if RealTimeScan.isBelow(stateful) && isAllowed(stateful.functionExpr) =>
      stateful
  }

  private def isPlanned(stateful: TransformWithStateInPySpark): Boolean =
    stateful.isStreaming &&
      (if (RealTimeScan.isBelow(stateful)) isAllowed(stateful.functionExpr)
       else OperatorMetadata.stateOf(stateful.left.output, stateful.output).nonEmpty)

  private def isAllowed(function: Expression): Boolean = function match {
    case udf: PythonUDF =>
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

object StatefulStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case node: TransformWithStateInPyFlow =>
      val stateful = node.stateful
      TransformWithStateInPyFlowExec.of(
        stateful,
        planLater(stateful.child),
        planLater(stateful.initialState)) :: Nil
    case _ => Nil
  }
}
