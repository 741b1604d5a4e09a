package io.pyflow.execution.fallback

import org.apache.spark.PartitionEvaluatorFactory
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, PythonUDF}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.{ArrowEvalPythonExec, BatchEvalPythonExec}
import org.apache.spark.sql.pyflow.PythonFunctions

/** Spark's own operator for plain functions, whose evaluation a task can take over. */
sealed trait WorkerOperator {
  def evaluators: PartitionEvaluatorFactory[InternalRow, InternalRow]

  def metrics: Map[String, SQLMetric]

  /** Without the number of rows, which every operator counts for itself. */
  def workerMetrics: Map[String, SQLMetric] = metrics - "pythonNumRowsReceived"
}

object WorkerOperator {
  def apply(
      udfs: Seq[PythonUDF],
      resultAttrs: Seq[Attribute],
      child: SparkPlan,
      evalType: Int): WorkerOperator =
    if (evalType == PythonFunctions.PickledEvalType) {
      new Pickled(udfs, resultAttrs, child)
    } else {
      new Arrow(udfs, resultAttrs, child, evalType)
    }

  private class Pickled(udfs: Seq[PythonUDF], resultAttrs: Seq[Attribute], child: SparkPlan)
    extends BatchEvalPythonExec(udfs, resultAttrs, child)
    with WorkerOperator {
    override def evaluators: PartitionEvaluatorFactory[InternalRow, InternalRow] = evaluatorFactory
  }

  private class Arrow(
      udfs: Seq[PythonUDF],
      resultAttrs: Seq[Attribute],
      child: SparkPlan,
      evalType: Int)
    extends ArrowEvalPythonExec(udfs, resultAttrs, child, evalType)
    with WorkerOperator {
    override def evaluators: PartitionEvaluatorFactory[InternalRow, InternalRow] = evaluatorFactory
  }
}
