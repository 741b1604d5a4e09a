package io.pyflow.execution.rows

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.{EvalPythonExec, EvalPythonUDTFExec}
import org.apache.spark.sql.pyflow.FunctionMetrics
import org.apache.spark.sql.types.StructType

import io.pyflow.admission.{ContentionMeter, FunctionAdmission, FunctionIdentity}
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.ThreadModeExec
import io.pyflow.execution.fallback.WorkerTableOperator
import io.pyflow.spec.{Argument, ProgramSpec}

/**
 * Evaluates a plain table function in the JVM of the executor, row by row: as a function that
 * returns an array of rows. After the last row comes one that only tells that this was the last.
 */
case class ThreadEvalPythonUDTFExec(
    udtf: PythonUDTF,
    requiredChildOutput: Seq[Attribute],
    resultAttrs: Seq[Attribute],
    settings: ThreadModeSettings,
    child: SparkPlan)
  extends EvalPythonUDTFExec
  with ThreadModeExec {

  override def functions: Seq[PythonFuncExpression] = Seq(udtf)

  private val workerOperator =
    new WorkerTableOperator(udtf, requiredChildOutput, resultAttrs, child)

  private lazy val functionMetrics = FunctionMetrics(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] =
    functionMetrics.beside(workerOperator.workerMetrics ++ EvaluationMetrics.create(sparkContext))

  override protected def evaluate(
      argMetas: Array[EvalPythonExec.ArgumentMetadata],
      rows: Iterator[InternalRow],
      schema: StructType,
      context: TaskContext): Iterator[Iterator[InternalRow]] = {
    val arguments = argMetas.map(each => Argument(each.offset, each.name)).toSeq
    val spec = ProgramSpec(udtf, arguments, schema, settings.worker)
    FunctionAdmission.evaluate(spec, FunctionIdentity.of(udtf), settings) {
      inThread(spec, rows, _, _)
    } { _ =>
      val numOutputRows = longMetric("numOutputRows")
      workerOperator
        .evaluateInWorkers(argMetas, rows, schema, context)
        .map(_.map { row =>
          numOutputRows.add(1)
          row
        })
    }
  }

  private def inThread(
      spec: ProgramSpec,
      rows: Iterator[InternalRow],
      context: TaskContext,
      meter: Option[ContentionMeter]): Iterator[Iterator[InternalRow]] = {
    val numOutputRows = longMetric("numOutputRows")
    // It counts calls.
    val measured = EvaluationMetrics(metrics, functionMetrics).copy(outputRows =
      new SQLMetric(metricType = "sum"))
    val python = new RowEvaluation(spec, settings, Seq(udtf.dataType), context, measured, meter)
    val input = spec.inputSchema
    val joined = new JoinedRow
    val notTheEnd = InternalRow(false)
    val end = new JoinedRow(InternalRow(true), new GenericInternalRow(input.length - 1))
    val marked = rows.map(joined(notTheEnd, _)) ++ Iterator.single(end)
    val fields = resultAttrs.length
    python
      .ofRows(marked, projectAll = true, () => UnsafeProjection.create(input))
      .takeWhile(!_.isNullAt(0))
      .map { row =>
        val results = row.getArray(0)
        numOutputRows.add(results.numElements())
        Iterator.tabulate(results.numElements()) { i =>
          if (results.isNullAt(i)) None.orNull else results.getStruct(i, fields)
        }
      }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ThreadEvalPythonUDTFExec =
    copy(child = newChild)
}
