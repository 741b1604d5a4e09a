package io.pyflow.planning

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.connector.write.BatchWrite
import org.apache.spark.sql.execution.{GenerateExec, ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.pyflow.PythonFunctions

import io.pyflow.config.{PyFlowConf, ThreadModeSettings}
import io.pyflow.execution.expressions.{EmbeddedPythonUDF, EmbeddedPythonUDTF, PythonResult}
import io.pyflow.spec.BoundArguments

/**
 * Plans Python functions over streams in real-time mode as expressions of Spark's own operators. Spark
 * allows no Python operator there, and a row has to go through before the next one comes.
 *
 * It comes before [[ThreadModeStrategy]]. Functions that cannot run in this way fail the query: process
 * mode is none for them.
 */
object RealTimeStrategy extends SparkStrategy with SQLConfHelper {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case PythonEvaluation(evaluation) if RealTimeScan.isBelow(evaluation.child) =>
      planned(evaluation.udfs, evaluation.evalType)(inProject(evaluation))
    case BatchEvalPythonUDTF(udtf, required, results, child) if RealTimeScan.isBelow(child) =>
      planned(Seq(udtf), udtf.evalType)(inGenerate(udtf, required, results, child))
    case ArrowEvalPythonUDTF(udtf, _, _, child, evalType) if RealTimeScan.isBelow(child) =>
      planned(Seq(udtf), evalType)(throw notByRow(udtf))
    case OverBatches(udf) if RealTimeScan.isBelow(plan) =>
      planned(Seq(udf), udf.evalType)(throw notByRow(udf))
    case _ => Nil
  }

  /** Matches operators whose functions take iterators of batches, or groups. */
  private object OverBatches {
    def unapply(plan: LogicalPlan): Option[PythonUDF] = plan match {
      case MapInPandas(udf: PythonUDF, _, _, _, _) => Some(udf)
      case MapInArrow(udf: PythonUDF, _, _, _, _) => Some(udf)
      case FlatMapGroupsInPandas(_, udf: PythonUDF, _, _) => Some(udf)
      case FlatMapGroupsInArrow(_, udf: PythonUDF, _, _) => Some(udf)
      case FlatMapCoGroupsInPandas(_, _, udf: PythonUDF, _, _, _) => Some(udf)
      case FlatMapCoGroupsInArrow(_, _, udf: PythonUDF, _, _, _) => Some(udf)
      case _ => None
    }
  }

  private def planned(functions: Seq[PythonFuncExpression], evalType: Int)(
      inThread: => SparkPlan): Seq[SparkPlan] =
    Option.when(isAllowed(functions, evalType))(inThread).toSeq

  /**
   * Whether thread mode is to run functions. Spark's error stays in process mode.
   *
   * @throws RealTimeModeRefusalException if they cannot run in thread mode
   */
  private[planning] def isAllowed(functions: Seq[PythonFuncExpression], evalType: Int): Boolean =
    if (PyFlowConf.isProcessMode(conf)) {
      logWarning(
        s"${names(functions)} cannot run in Spark's real-time mode in process mode. In thread mode it " +
          s"can: set ${PyFlowConf.EXECUTION_MODE.key}=thread.")
      false
    } else {
      reasonAgainst(functions, evalType)
        .foreach(reason => throw new RealTimeModeRefusalException(names(functions), reason))
      true
    }

  private def reasonAgainst(functions: Seq[PythonFuncExpression], evalType: Int): Option[String] =
    ProcessModeReason.of(functions, evalType, conf, SparkEnv.get.conf, canLeave = false)

  /** What a stream writes with in thread mode; workers would make rows late without a word. */
  private[planning] def plannedWrite(udf: PythonUDF)(
      inThread: ThreadModeSettings => BatchWrite): BatchWrite = {
    reasonAgainst(Seq(udf), udf.evalType).foreach { reason =>
      throw new RealTimeModeRefusalException(udf.name, reason, WorkersHoldRowsBack)
    }
    val advice = s"$WorkersHoldRowsBack. With another trigger it can move to process mode."
    inThread(ThreadModeStrategy.settings(udf, udf.evalType).only(advice))
  }

  private val WorkersHoldRowsBack =
    "In real-time mode Spark's Python workers hold rows back until many have come"

  /** All functions are one call; several results come as a struct, which a projection above takes apart. */
  private def inProject(evaluation: PythonEvaluation): SparkPlan = {
    import evaluation._
    val child = planLater(evaluation.child)
    resultAttributes match {
      case Seq(result) =>
        val value = called(evaluation)(_.head)
        ProjectExec(evaluation.child.output :+ named(value, result), child)
      case several =>
        val struct = Alias(called(evaluation)(CreateStruct(_)), "pythonUDFs")()
        val fields = several.zipWithIndex.map { case (result, i) =>
          named(GetStructField(struct.toAttribute, i), result)
        }
        ProjectExec(
          evaluation.child.output ++ fields,
          ProjectExec(evaluation.child.output :+ struct, child))
    }
  }

  private def named(value: Expression, result: Attribute): Alias =
    Alias(value, result.name)(exprId = result.exprId)

  private def called(evaluation: PythonEvaluation)(
      body: Seq[Expression] => Expression): Expression = {
    import evaluation._
    val bound = BoundArguments(udfs)
    val id = NamedExpression.newExprId
    val results = udfs.zipWithIndex.map { case (udf, i) => PythonResult(id, i, udf.dataType) }
    // What is not deterministic is evaluated where it stands, once for each row.
    val functions =
      if (PythonFunctions.takesRows(evalType)) {
        Embedded.functions(udfs, evalType, bound).copy(deterministic = false)
      } else if (PythonFunctions.takesBatch(evalType)) {
        Embedded.batchFunctions(udfs, evalType, bound).copy(deterministic = false)
      } else {
        throw notByRow(udfs.head)
      }
    EmbeddedPythonUDF(functions, bound.values, body(results), id)
  }

  private def inGenerate(
      udtf: PythonUDTF,
      requiredChildOutput: Seq[Attribute],
      results: Seq[Attribute],
      child: LogicalPlan): SparkPlan = {
    val bound = BoundArguments(Seq(udtf))
    val function = Embedded.tableFunction(udtf, bound)
    val generator = EmbeddedPythonUDTF(
      function,
      bound.values,
      udtf.elementSchema,
      keepsColumns = requiredChildOutput.nonEmpty)
    GenerateExec(generator, requiredChildOutput, outer = false, results, planLater(child))
  }

  private[planning] def notByRow(
      function: PythonFuncExpression,
      instead: String = "as a plain function (udf), or as a plain table function (udtf with " +
        "useArrow=False)"): RealTimeModeRefusalException =
    new RealTimeModeRefusalException(
      names(Seq(function)),
      "it takes an iterator, a group or a table of rows, and rows come one at a time there. Write " +
        s"it $instead")

  private def names(functions: Seq[PythonFuncExpression]): String =
    functions.map(PythonFunctions.nameOf).mkString(", ")
}
