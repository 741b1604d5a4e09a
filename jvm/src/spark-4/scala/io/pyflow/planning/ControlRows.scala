package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{ColumnarRule, DeserializeToObjectExec, MapPartitionsExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.pyflow.RowItself

import io.pyflow.execution.state.{ControlRowsExec, WithControlRows}

/** Puts the rows of [[ControlRowsExec]] below the operators of data streams that keep state. */
object ControlRows extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = Planned

  private object Planned extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transform {
      case stateful: TransformWithStateInPySparkExec if lacksControlRows(stateful) =>
        val child = stateful.child
        stateful.copy(child =
          if (RealTimeScan.isBelow(child)) ofSpark(child) else ControlRowsExec(child))
    }
  }

  private def lacksControlRows(stateful: TransformWithStateInPySparkExec): Boolean =
    stateful.isStreaming &&
      stateful.groupingAttributes.headOption.exists(_.name == ControlRowsExec.Target) &&
      (stateful.child match {
        case _: ControlRowsExec => false
        case ProjectExec(_, MapPartitionsExec(_: WithControlRows, _, _)) => false
        case _ => true
      })

  /** The same by operators of Spark's own, which are all that it allows in real-time mode. */
  private def ofSpark(child: SparkPlan): SparkPlan = {
    val row = AttributeReference("row", RowItself.dataType, nullable = false)()
    val struct = DataTypeUtils.fromAttributes(child.output)
    val made = AttributeReference("made", struct, nullable = false)()
    val rows = DeserializeToObjectExec(RowItself, row, child)
    ProjectExec(
      StatefulOperator.columnsOf(made, child.output),
      MapPartitionsExec(WithControlRows(child.output), made, rows))
  }
}
