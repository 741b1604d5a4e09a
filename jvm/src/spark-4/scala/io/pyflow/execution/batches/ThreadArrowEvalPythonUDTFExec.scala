package io.pyflow.execution.batches

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, PythonFuncExpression, PythonUDTF}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.{EvalPythonExec, EvalPythonUDTFExec}
import org.apache.spark.sql.pyflow.{ArrowResults, PythonFunctions}
import org.apache.spark.sql.types.StructType

import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.{Argument, InBatches}

/** Evaluates a table function over Arrow batches in the JVM of the executor. */
case class ThreadArrowEvalPythonUDTFExec(
    udtf: PythonUDTF,
    requiredChildOutput: Seq[Attribute],
    resultAttrs: Seq[Attribute],
    settings: ThreadModeSettings,
    child: SparkPlan)
  extends EvalPythonUDTFExec
  with ArrowLaneExec {

  override def functions: Seq[PythonFuncExpression] = Seq(udtf)

  override protected def pythonEvalType: Int = udtf.evalType

  override protected def evaluate(
      argMetas: Array[EvalPythonExec.ArgumentMetadata],
      rows: Iterator[InternalRow],
      schema: StructType,
      context: TaskContext): Iterator[Iterator[InternalRow]] = {
    val arguments = argMetas.map(each => Argument(each.offset, each.name, each.isTableArg)).toSeq
    val evalConf =
      if (PythonFunctions.takesArrowTables(udtf)) {
        "table_arg_offsets" -> arguments.filter(_.isTable).map(_.column).mkString(",")
      } else {
        "input_type" -> schema.json
      }
    val batches =
      lane(InBatches, Seq(schema), Seq(arguments), evalConf = Map(evalConf)).stream(rows)
    ArrowResults.ofTableFunction(batches, resultAttrs.map(_.dataType))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): ThreadArrowEvalPythonUDTFExec =
    copy(child = newChild)
}
