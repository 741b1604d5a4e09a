package io.pyflow.execution.batches

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.{CoGroupedIterator, SparkPlan}
import org.apache.spark.sql.execution.python.FlatMapCoGroupsInBatchExec
import org.apache.spark.sql.execution.python.GroupedInput
import org.apache.spark.sql.pyflow.ArrowResults

import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.{Argument, InCogroups}

/** `applyInPandas` and `applyInArrow` of cogrouped data in the JVM of the executor. */
case class ThreadFlatMapCoGroupsInBatchExec(
    leftGroup: Seq[Attribute],
    rightGroup: Seq[Attribute],
    func: Expression,
    output: Seq[Attribute],
    settings: ThreadModeSettings,
    left: SparkPlan,
    right: SparkPlan)
  extends FlatMapCoGroupsInBatchExec
  with ArrowLaneExec {

  override def functions: Seq[PythonFuncExpression] = Seq(func.asInstanceOf[PythonUDF])

  override protected val pythonEvalType: Int = func.asInstanceOf[PythonUDF].evalType

  override protected def doExecute(): RDD[InternalRow] = {
    val leftInput = GroupedInput(left.output, leftGroup)
    val rightInput = GroupedInput(right.output, rightGroup)
    val functionsLane = lane(
      InCogroups,
      Seq(leftInput.schema, rightInput.schema),
      Seq((leftInput.offsets ++ rightInput.offsets).map(Argument(_, None))))
    val (columns, grouping) = (output, leftGroup)
    left.execute().zipPartitions(right.execute()) { (leftRows, rightRows) =>
      if (leftRows.isEmpty && rightRows.isEmpty) {
        Iterator.empty
      } else {
        val cogroups =
          new CoGroupedIterator(leftInput.groups(leftRows), rightInput.groups(rightRows), grouping)
        ArrowResults
          .ofStructs(functionsLane.cogroups(grouping, cogroups), columns.length)
          .map(UnsafeProjection.create(columns, columns))
      }
    }
  }

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan): ThreadFlatMapCoGroupsInBatchExec =
    copy(left = newLeft, right = newRight)
}
