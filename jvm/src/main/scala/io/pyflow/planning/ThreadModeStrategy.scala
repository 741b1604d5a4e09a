package io.pyflow.planning

import java.util.{Collections, LinkedHashMap, Map => JavaMap}

import org.apache.spark.{SparkConf, SparkEnv, SparkException}
import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.python.ArrowPythonRunner
import org.apache.spark.sql.pyflow.{PythonFunctions, WorkerSettings}

import io.pyflow.execution.{InterpreterChoice, ProcessModeExec, ThreadEvalPythonExec, ThreadModeSettings}
import io.pyflow.plugin.{EmbeddedPython, PyFlowConf}

/**
 * Plans Python functions for thread mode where the session asks for it.
 *
 * It runs before Spark's own strategies and returns nothing for what it leaves to them. The
 * projection or filter on top is planned together with the functions, because that tells which
 * columns somebody still needs: the others are not carried through the operator, and a projection
 * that only picks and renames columns becomes the operator's own output.
 */
object ThreadModeStrategy extends SparkStrategy with SQLConfHelper {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] =
    if (PyFlowConf.EXECUTION_MODE.in(conf) == "thread") planForThreadMode(plan) else Nil

  private def planForThreadMode(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case Project(list, InThread(evaluation)) if list.forall(picksColumn) =>
      inThread(evaluation, list) :: Nil

    case Project(list, InThread(evaluation)) =>
      ProjectExec(list, inThread(evaluation, evaluation.columnsFor(list))) :: Nil

    case Project(list, Filter(condition, InThread(evaluation))) =>
      val columns = evaluation.columnsFor(list :+ condition)
      ProjectExec(list, FilterExec(condition, inThread(evaluation, columns))) :: Nil

    case PythonEvaluation(evaluation) =>
      val physical = processModeReason(evaluation) match {
        case None => inThread(evaluation, evaluation.output)
        case Some(reason) => inProcess(evaluation, reason)
      }
      physical :: Nil

    case _ => Nil
  }

  /** Matches functions that can run in thread mode. */
  private object InThread {
    def unapply(plan: LogicalPlan): Option[PythonEvaluation] =
      PythonEvaluation.unapply(plan).filter(processModeReason(_).isEmpty)
  }

  private def picksColumn(expression: NamedExpression): Boolean = expression match {
    case _: Attribute | Alias(_: Attribute, _) => true
    case _ => false
  }

  private def inThread(
      evaluation: PythonEvaluation,
      output: Seq[NamedExpression]): ThreadEvalPythonExec =
    ThreadEvalPythonExec(
      evaluation.udfs,
      evaluation.resultAttributes,
      output,
      evaluation.evalType,
      settings(evaluation),
      planLater(evaluation.child))

  private def settings(evaluation: PythonEvaluation): ThreadModeSettings = {
    val version = PythonFunctions.versions(evaluation.udfs.head).head
    val arrow = evaluation.evalType == PythonFunctions.ArrowEvalType
    ThreadModeSettings(
      EmbeddedPython.executable(sparkConf),
      InterpreterChoice
        .of(PyFlowConf.INTERPRETER.in(conf), version)
        .fold(reason => throw SparkException.internalError(reason), identity),
      PyFlowConf.BUNDLE_SIZE.in(conf),
      PyFlowConf.BUNDLE_TIME.in(conf),
      PyFlowConf.PYTHON_TIMEOUT.in(conf),
      PyFlowConf.FALLBACK.in(conf),
      WorkerSettings(
        if (arrow) ArrowPythonRunner.getPythonRunnerConfMap(conf) else Map.empty,
        conf.arrowMaxRecordsPerBatch,
        conf.pysparkBinaryAsBytes,
        conf.pysparkHideTraceback,
        conf.pysparkSimplifiedTraceback,
        conf.pysparkTracebackWithLocals,
        PythonFunctions.jobArtifactUUID))
  }

  private def inProcess(evaluation: PythonEvaluation, reason: String): SparkPlan = {
    val names = evaluation.functionNames
    if (!PyFlowConf.FALLBACK.in(conf)) {
      throw new ThreadModeUnavailableException(names, reason)
    }
    if (notYetLogged(evaluation.udfs.map(_.resultId))) {
      log.warn("{} runs in process mode: {}", names: Any, reason: Any)
    }
    ProcessModeExec(evaluation.udfs, reason, evaluation.sparksOperator(planLater(evaluation.child)))
  }

  private def processModeReason(evaluation: PythonEvaluation): Option[String] =
    ProcessModeReason.of(evaluation, conf, sparkConf)

  private def sparkConf: SparkConf = SparkEnv.get.conf

  /** Adaptive execution plans the same functions again and again; one line is enough. */
  private def notYetLogged(functions: Seq[ExprId]): Boolean =
    Option(logged.put(functions, true)).isEmpty

  private val logged: JavaMap[Seq[ExprId], Boolean] =
    Collections.synchronizedMap(new LinkedHashMap[Seq[ExprId], Boolean] {
      override protected def removeEldestEntry(e: JavaMap.Entry[Seq[ExprId], Boolean]): Boolean =
        size > 1000
    })
}
