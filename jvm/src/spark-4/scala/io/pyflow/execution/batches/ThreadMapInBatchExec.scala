package io.pyflow.execution.batches

import org.apache.spark.rdd.RDD
import org.apache.spark.resource.ResourceProfile
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.MapInBatchExec

import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.{Argument, InBatches}

/** `mapInPandas` and `mapInArrow` in the JVM of the executor. */
case class ThreadMapInBatchExec(
    func: Expression,
    output: Seq[Attribute],
    child: SparkPlan,
    isBarrier: Boolean,
    profile: Option[ResourceProfile],
    settings: ThreadModeSettings)
  extends MapInBatchExec
  with ArrowLaneExec {

  private def udf: PythonUDF = func.asInstanceOf[PythonUDF]

  override def functions: Seq[PythonFuncExpression] = Seq(udf)

  override protected val pythonEvalType: Int = udf.evalType

  override protected def doExecute(): RDD[InternalRow] = {
    // PySpark takes the columns as one struct: a data frame.
    val map = new MapInBatches(
      lane(InBatches, Seq(child.schema), Seq(Seq(Argument(0, None))), inStruct = true),
      output,
      udf.dataType,
      pythonEvalType)
    val rows =
      if (isBarrier) {
        child.execute().barrier().mapPartitions(map(_))
      } else {
        child.execute().mapPartitions(map(_))
      }
    profile.fold(rows)(rows.withResources)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ThreadMapInBatchExec =
    copy(child = newChild)
}
