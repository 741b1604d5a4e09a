package io.pyflow.execution.batches

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.python.{PendingRows, WindowedInput}
import org.apache.spark.sql.execution.window.WindowExecBase
import org.apache.spark.sql.pyflow.ArrowResults

import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.InGroups

/** Evaluates pandas and Arrow functions over windows in the JVM of the executor. */
case class ThreadArrowWindowPythonExec(
    windowExpression: Seq[NamedExpression],
    partitionSpec: Seq[Expression],
    orderSpec: Seq[SortOrder],
    pythonEvalType: Int,
    settings: ThreadModeSettings,
    child: SparkPlan)
  extends WindowExecBase
  with ArrowLaneExec {

  override def functions: Seq[PythonFuncExpression] = WindowedInput.functions(windowExpression)

  override protected def laneMetrics: Map[String, SQLMetric] =
    super.laneMetrics + ("spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size"))

  override protected def doExecute(): RDD[InternalRow] = {
    val input = new WindowedInput(
      windowExpression,
      partitionSpec,
      orderSpec,
      child.output,
      longMetric("spillSize"))
    val functionsLane =
      lane(InGroups, Seq(input.schema), input.arguments, runnerConf = input.runnerConf)
    val fields = child.output.length
    child.execute().mapPartitions { rows =>
      if (rows.isEmpty) {
        Iterator.empty
      } else {
        val waiting = new PendingRows(TaskContext.get(), fields)
        val partitions = input.partitions(rows.map { row =>
          waiting.add(row.asInstanceOf[UnsafeRow])
          row
        })
        val joined = new JoinedRow
        val project = input.resultProjection
        ArrowResults
          .rows(functionsLane.groups(input.partitionSpec, partitions))
          .map(row => project(joined(waiting.remove(), row)))
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ThreadArrowWindowPythonExec =
    copy(child = newChild)
}
