package io.pyflow.execution.batches

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.FlatMapGroupsInBatchExec
import org.apache.spark.sql.execution.python.GroupedInput
import org.apache.spark.sql.pyflow.ArrowResults

import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.{Argument, InGroups}

/**
 * `applyInPandas` and `applyInArrow` of grouped data in the JVM of the executor.
 *
 * @param inStruct whether Python gets a group's columns as one struct
 */
case class ThreadFlatMapGroupsInBatchExec(
    groupingAttributes: Seq[Attribute],
    func: Expression,
    output: Seq[Attribute],
    inStruct: Boolean,
    settings: ThreadModeSettings,
    child: SparkPlan)
  extends FlatMapGroupsInBatchExec
  with ArrowLaneExec {

  override def functions: Seq[PythonFuncExpression] = Seq(func.asInstanceOf[PythonUDF])

  override protected val pythonEvalType: Int = func.asInstanceOf[PythonUDF].evalType

  override protected def doExecute(): RDD[InternalRow] = {
    val input = GroupedInput(child.output, groupingAttributes)
    val arguments = Seq(input.offsets.map(Argument(_, None)))
    val functionsLane = lane(InGroups, Seq(input.schema), arguments, inStruct)
    val columns = output
    child.execute().mapPartitions { rows =>
      if (rows.isEmpty) {
        Iterator.empty
      } else {
        ArrowResults
          .ofStructs(functionsLane.groups(input.grouping, input.groups(rows)), columns.length)
          .map(UnsafeProjection.create(columns, columns))
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ThreadFlatMapGroupsInBatchExec =
    copy(child = newChild)
}
