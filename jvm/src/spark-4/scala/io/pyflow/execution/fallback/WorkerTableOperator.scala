package io.pyflow.execution.fallback

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, PythonUDTF}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.{BatchEvalPythonUDTFExec, EvalPythonExec}
import org.apache.spark.sql.types.StructType

/** Spark's own operator for plain table functions, for a task that must not run one in the JVM. */
class WorkerTableOperator(
    udtf: PythonUDTF,
    requiredChildOutput: Seq[Attribute],
    resultAttrs: Seq[Attribute],
    child: SparkPlan)
  extends BatchEvalPythonUDTFExec(udtf, requiredChildOutput, resultAttrs, child) {

  /** Without the number of rows, which every operator counts for itself. */
  def workerMetrics: Map[String, SQLMetric] = metrics - "pythonNumRowsReceived"

  def evaluateInWorkers(
      argMetas: Array[EvalPythonExec.ArgumentMetadata],
      rows: Iterator[InternalRow],
      schema: StructType,
      context: TaskContext): Iterator[Iterator[InternalRow]] =
    evaluate(argMetas, rows, schema, context)
}
