package io.pyflow.execution.state

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Shows, in the plan, what is measured of the processor in Spark's operator below, which shows that of
 * Spark alone. Rows pass through untouched.
 *
 * @param name of the processor
 * @param measured the metrics that the processor's tasks add to
 */
case class ThreadProcessorExec(
    name: String,
    interpreter: String,
    measured: ProcessorMetrics,
    child: SparkPlan)
  extends UnaryExecNode {

  override lazy val metrics: Map[String, SQLMetric] = measured.byName

  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override def doCanonicalize(): SparkPlan = child.canonicalized

  override def simpleString(maxFields: Int): String =
    s"$nodeName [$name], interpreter: $interpreter"

  override def verboseStringWithOperatorId(): String =
    s"""$formattedNodeName
       |Processor: $name
       |Interpreter: $interpreter
       |""".stripMargin

  override protected def withNewChildInternal(newChild: SparkPlan): ThreadProcessorExec =
    copy(child = newChild)
}
