package io.pyflow.execution

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.{OrderPreservingUnaryExecNode, PartitioningPreservingUnaryExecNode}

/** An operator of functions that have one result for each row, in the order of the rows. */
trait ThreadEvalExec
  extends PartitioningPreservingUnaryExecNode
  with OrderPreservingUnaryExecNode
  with ThreadModeExec {

  /** The functions, as Spark's optimizer has collected them. */
  def udfs: Seq[PythonUDF]

  /** The names of the results, one for each of `udfs`. */
  def resultAttrs: Seq[Attribute]

  /** The output: columns of the child and of `resultAttrs`, or their aliases. */
  def outputExpressions: Seq[NamedExpression]

  override def functions: Seq[PythonFuncExpression] = udfs

  override def output: Seq[Attribute] = outputExpressions.map(_.toAttribute)

  override protected def namedOutput: Seq[NamedExpression] = outputExpressions

  override def producedAttributes: AttributeSet = AttributeSet(resultAttrs)

  override protected def orderingExpressions: Seq[SortOrder] = child.outputOrdering

  /** Results among them, so that the canonical form tells which result an output column is. */
  override def allAttributes: AttributeSeq = child.output ++ resultAttrs
}
