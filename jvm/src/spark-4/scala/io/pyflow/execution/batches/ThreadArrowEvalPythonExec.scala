package io.pyflow.execution.batches

import scala.jdk.CollectionConverters._

import org.apache.spark.{PartitionEvaluator, PartitionEvaluatorFactory, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.PendingRows
import org.apache.spark.sql.pyflow.ArrowResults
import org.apache.spark.sql.vectorized.ColumnarBatch

import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.ThreadEvalExec
import io.pyflow.spec.{BoundArguments, InBatches}

/**
 * Evaluates scalar pandas and Arrow functions in the JVM of the executor. As many rows come out as
 * go in, in their order; the columns that are still needed above wait in a queue meanwhile.
 *
 * A child that has batches of columns hands them on: the functions get the same batches, column by
 * column, with no rows in between.
 *
 * @param udfs the functions, as Spark's optimizer has collected them
 * @param resultAttrs what the results are called, one for each of `udfs`
 * @param outputExpressions the output: columns of the child and of `resultAttrs`, or their aliases
 */
case class ThreadArrowEvalPythonExec(
    udfs: Seq[PythonUDF],
    resultAttrs: Seq[Attribute],
    outputExpressions: Seq[NamedExpression],
    pythonEvalType: Int,
    settings: ThreadModeSettings,
    child: SparkPlan)
  extends ThreadEvalExec
  with ArrowLaneExec {

  override protected def doExecute(): RDD[InternalRow] = {
    val arguments = BoundArguments(udfs)
    val evaluation = new ArrowEvaluation(
      lane(InBatches, Seq(arguments.schema), arguments.ofFunctions),
      arguments.values,
      child.output,
      child.output.filter(
        AttributeSet.fromAttributeSets(outputExpressions.map(_.references)).contains),
      resultAttrs,
      outputExpressions)
    if (child.supportsColumnar) {
      child.executeColumnar().mapPartitionsWithEvaluator(evaluation.ofBatches)
    } else {
      child.execute().mapPartitionsWithEvaluator(evaluation.ofRows)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ThreadArrowEvalPythonExec =
    copy(child = newChild)
}

/** What a task does with its partition, of rows or of batches. */
private[execution] class ArrowEvaluation(
    lane: ArrowLane,
    inputs: Seq[Expression],
    childOutput: Seq[Attribute],
    kept: Seq[Attribute],
    results: Seq[Attribute],
    output: Seq[NamedExpression])
  extends Serializable {

  def ofRows: PartitionEvaluatorFactory[InternalRow, InternalRow] = factory { (index, rows, keep) =>
    val arguments = projection(index)
    lane.stream(rows.map { row =>
      keep(row)
      arguments(row)
    })
  }

  /** The functions get these very batches. */
  def ofBatches: PartitionEvaluatorFactory[ColumnarBatch, InternalRow] =
    factory { (index, batches, keep) =>
      if (inputs.forall(ordinal(_) >= 0)) {
        lane.columns(
          batches.map { batch =>
            if (kept.nonEmpty) {
              batch.rowIterator().asScala.foreach(keep)
            }
            batch
          },
          inputs.map(ordinal))
      } else {
        val arguments = projection(index)
        lane.batches(batches.map(_.rowIterator().asScala.map { row =>
          keep(row)
          arguments(row)
        }))
      }
    }

  private def ordinal(input: Expression): Int = input match {
    case column: Attribute => childOutput.indexWhere(_.exprId == column.exprId)
    case _ => -1
  }

  private def projection(partitionIndex: Int): UnsafeProjection = {
    val made = UnsafeProjection.create(inputs, childOutput)
    made.initialize(partitionIndex)
    made
  }

  /**
   * @param resultsOf what the functions make of a partition, given its index, its input, and what
   *   to do with each row before they get it
   */
  private def factory[T](
      resultsOf: (Int, Iterator[T], InternalRow => Unit) => Iterator[ColumnarBatch])
      : PartitionEvaluatorFactory[T, InternalRow] = {
    val evaluate = (index: Int, input: Iterator[T]) => {
      def resultRows(keep: InternalRow => Unit) =
        ArrowResults.ofColumns(resultsOf(index, input, keep), results.map(_.dataType))
      if (kept.isEmpty) {
        resultRows(_ => ()).map(UnsafeProjection.create(output, results))
      } else {
        val keep = UnsafeProjection.create(kept, childOutput)
        val waiting = new PendingRows(TaskContext.get(), kept.length)
        val joined = new JoinedRow
        val project = UnsafeProjection.create(output, kept ++ results)
        resultRows(row => waiting.add(keep(row)))
          .map(row => project(joined(waiting.remove(), row)))
      }
    }
    new ArrowEvaluation.Factory(evaluate)
  }
}

private object ArrowEvaluation {
  private class Factory[T](evaluate: (Int, Iterator[T]) => Iterator[InternalRow])
    extends PartitionEvaluatorFactory[T, InternalRow] {

    override def createEvaluator(): PartitionEvaluator[T, InternalRow] = new Evaluator

    private class Evaluator extends PartitionEvaluator[T, InternalRow] {
      override def eval(partitionIndex: Int, inputs: Iterator[T]*): Iterator[InternalRow] =
        evaluate(partitionIndex, inputs.head)
    }
  }
}
