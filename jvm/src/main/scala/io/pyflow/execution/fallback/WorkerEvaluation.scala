package io.pyflow.execution.fallback

import org.apache.spark.PartitionEvaluatorFactory
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, NamedExpression, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Evaluates a partition in Spark's Python workers, for functions that must not run in the JVM any
 * more although the query was planned so. Its rows are those of the operator in thread mode.
 *
 * @param input columns of the operator's child
 * @param results what the results are called
 * @param output the operator's output: columns of both, or their aliases
 */
class WorkerEvaluation(
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
