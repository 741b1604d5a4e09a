package io.pyflow.execution

import org.apache.spark.PartitionEvaluatorFactory
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression, PythonUDF, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.{ArrowEvalPythonExec, BatchEvalPythonExec}
import org.apache.spark.sql.pyflow.PythonFunctions

/** Spark's own operator for plain functions, whose evaluation a task can take over. */
sealed trait SparksOperator {
  def evaluators: PartitionEvaluatorFactory[InternalRow, InternalRow]

  def metrics: Map[String, SQLMetric]

  /** Without the number of rows, which every operator counts for itself. */
  def workerMetrics: Map[String, SQLMetric] = metrics - "pythonNumRowsReceived"
}

object SparksOperator {
  def apply(
      udfs: Seq[PythonUDF],
      resultAttrs: Seq[Attribute],
      child: SparkPlan,
      evalType: Int): SparksOperator =
    if (evalType == PythonFunctions.PickledEvalType) {
      new Pickled(udfs, resultAttrs, child)
    } else {
      new Arrow(udfs, resultAttrs, child, evalType)
    }

  private class Pickled(udfs: Seq[PythonUDF], resultAttrs: Seq[Attribute], child: SparkPlan)
    extends BatchEvalPythonExec(udfs, resultAttrs, child)
    with SparksOperator {
    override def evaluators: PartitionEvaluatorFactory[InternalRow, InternalRow] = evaluatorFactory
  }

  private class Arrow(
      udfs: Seq[PythonUDF],
      resultAttrs: Seq[Attribute],
      child: SparkPlan,
      evalType: Int)
    extends ArrowEvalPythonExec(udfs, resultAttrs, child, evalType)
    with SparksOperator {
    override def evaluators: PartitionEvaluatorFactory[InternalRow, InternalRow] = evaluatorFactory
  }
}

/**
 * Evaluates a partition in Spark's Python workers, for functions that must not run in the JVM any
 * more although the query was planned so. Its rows are those of the operator in thread mode.
 *
 * @param input columns of the operator's child
 * @param results what the results are called
 * @param output the operator's output: columns of both, or their aliases
 */
class SparksEvaluation(
    evaluators: PartitionEvaluatorFactory[InternalRow, InternalRow],
    input: Seq[Attribute],
    results: Seq[Attribute],
    output: Seq[NamedExpression],
    outputRows: SQLMetric)
  extends Serializable {

  def eval(partitionIndex: Int, rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val projection = UnsafeProjection.create(output, input ++ results)
    evaluators.createEvaluator().eval(partitionIndex, unsafe(rows)).map { row =>
      outputRows.add(1)
      projection(row)
    }
  }

  /** Spark's evaluator takes no others; rows of a columnar batch and of some sources are none. */
  private def unsafe(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    lazy val projection = UnsafeProjection.create(input, input)
    rows.map {
      case row: UnsafeRow => row
      case row => projection(row)
    }
  }
}
