package io.pyflow.execution.fallback

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.util.truncatedString
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * Tells, in the plan, why the functions of the operator below run in process mode although the
 * session asks for thread mode. Rows and batches pass through untouched.
 */
case class ProcessModeExec(functions: Seq[String], reason: String, child: SparkPlan)
  extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override def supportsRowBased: Boolean = child.supportsRowBased

  override def supportsColumnar: Boolean = child.supportsColumnar

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def doExecuteColumnar(): RDD[ColumnarBatch] = child.executeColumnar()

  /** The functions are evaluated below; here they are only named. */
  override def doCanonicalize(): SparkPlan = child.canonicalized

  override def simpleString(maxFields: Int): String =
    s"$nodeName ${truncatedString(functions, "[", ", ", "]", maxFields)}, reason: $reason"

  override def verboseStringWithOperatorId(): String =
    s"""$formattedNodeName
       |Functions: ${functions.mkString("[", ", ", "]")}
       |Reason: $reason
       |""".stripMargin

  override protected def withNewChildInternal(newChild: SparkPlan): ProcessModeExec =
    copy(child = newChild)
}
