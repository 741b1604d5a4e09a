package io.pyflow.execution.rows

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.pyflow.FunctionMetrics

import io.pyflow.admission.FunctionIdentity
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.ThreadEvalExec
import io.pyflow.execution.fallback.{WorkerEvaluation, WorkerOperator}
import io.pyflow.spec.RowBinding

/**
 * Evaluates plain Python functions in the JVM of the executor.
 *
 * {{{
 *   child rows            pull up to a bundle of rows: as they come, or projected to just the
 *       |                 arguments and the columns that are still needed above
 *       v
 *   input bundle          UnsafeRows back to back, off heap
 *       |
 *       v                 one call per bundle, one GIL hold; native code reads the arguments in
 *   Python functions      place, calls the functions, and writes the output rows
 *       |
 *       v
 *   output bundle         UnsafeRows back to back, off heap, in the native library's memory
 *       |
 *       v
 *   output rows           one UnsafeRow, pointed at each of them in turn
 * }}}
 *
 * An Arrow-optimised function's child may have batches of columns: its rows are projected into the
 * bundle with no operator in between, and a bundle ends where a batch does.
 *
 * The first bundle is one row, so that a LIMIT or a stream gets its first answer at once; then
 * bundles grow while they take little time. Nothing is copied on the JVM's side but the input.
 *
 * @param udfs the functions, as Spark's optimizer has collected them
 * @param resultAttrs what the results are called, one for each of `udfs`
 * @param outputExpressions the output: columns of the child and of `resultAttrs`, or their aliases
 * @param evalType how values are converted: as for pickled or as for Arrow-optimised functions
 */
case class ThreadEvalPythonExec(
    udfs: Seq[PythonUDF],
    resultAttrs: Seq[Attribute],
    outputExpressions: Seq[NamedExpression],
    evalType: Int,
    settings: ThreadModeSettings,
    child: SparkPlan)
  extends ThreadEvalExec {

  /** For partitions whose functions went to quarantine after the query was planned. */
  @transient private val workerOperator =
    WorkerOperator(udfs, resultAttrs, child, evalType)

  private lazy val functionMetrics = FunctionMetrics(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] =
    functionMetrics.beside(workerOperator.workerMetrics ++ EvaluationMetrics.create(sparkContext))

  override protected def doExecute(): RDD[InternalRow] = {
    val binding = RowBinding.bind(udfs, resultAttrs, outputExpressions, child.output)
    val factory = new ThreadEvalPythonEvaluatorFactory(
      binding,
      binding.spec(evalType, settings.worker),
      output.map(_.dataType),
      settings,
      EvaluationMetrics(metrics, functionMetrics),
      udfs.flatMap(FunctionIdentity.of),
      new WorkerEvaluation(
        workerOperator.evaluators,
        child.output,
        resultAttrs,
        outputExpressions,
        metrics("numOutputRows")))
    if (child.supportsColumnar) {
      child.executeColumnar().mapPartitionsWithEvaluator(factory.ofBatches)
    } else {
      child.execute().mapPartitionsWithEvaluator(factory)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ThreadEvalPythonExec =
    copy(child = newChild)
}
