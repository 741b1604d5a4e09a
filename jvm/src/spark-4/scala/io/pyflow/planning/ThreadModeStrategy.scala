package io.pyflow.planning

import org.apache.spark.{SparkConf, SparkEnv, SparkException}
import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, NamedExpression, PythonFuncExpression, PythonUDAF, PythonUDF, WindowFunctionType}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.planning.{PhysicalAggregation, PhysicalWindow}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.connector.write.BatchWrite
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.python._
import org.apache.spark.sql.execution.python.WindowedInput
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.{PythonFunctions, Setting}

import io.pyflow.config.{EmbeddedPython, IdleTimeout, InterpreterChoice, LogLevels, PyFlowConf, ThreadModeSettings, WorkerSettings}
import io.pyflow.execution.batches.{ThreadArrowAggregatePythonExec, ThreadArrowEvalPythonExec, ThreadArrowEvalPythonUDTFExec, ThreadArrowWindowPythonExec, ThreadFlatMapCoGroupsInBatchExec, ThreadFlatMapGroupsInBatchExec, ThreadMapInBatchExec}
import io.pyflow.execution.rows.{ThreadEvalPythonExec, ThreadEvalPythonUDTFExec}

/**
 * Plans Python functions for thread mode where the session asks for it.
 *
 * It runs before Spark's own strategies and returns nothing for plans that it leaves to them. The
 * projection or filter on top is planned together with the functions, because that tells which
 * columns are still needed: the others are not carried through the operator, and a projection
 * that only picks and renames columns becomes the operator's own output.
 */
object ThreadModeStrategy extends SparkStrategy with SQLConfHelper {

  /** Since Spark 4.3. */
  private val TracebackWithLocals = "spark.sql.execution.pyspark.udf.tracebackWithLocals.enabled"

  override def apply(plan: LogicalPlan): Seq[SparkPlan] =
    if (PyFlowConf.isProcessMode(conf)) Nil else planForThreadMode(plan)

  private def planForThreadMode(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case InputFileColumns(askedBelow) => planLater(askedBelow) :: Nil

    case EvaluatedBelow(reusing) => planLater(reusing) :: Nil

    case Project(list, InThread(evaluation)) if list.forall(picksColumn) =>
      inThread(evaluation, list) :: Nil

    case Project(list, InThread(evaluation)) =>
      ProjectExec(list, inThread(evaluation, evaluation.columnsFor(list))) :: Nil

    case Project(list, Filter(condition, InThread(evaluation))) =>
      val columns = evaluation.columnsFor(list :+ condition)
      ProjectExec(list, FilterExec(condition, inThread(evaluation, columns))) :: Nil

    case PythonEvaluation(evaluation) =>
      planned(evaluation.udfs, evaluation.evalType)(
        inThread(evaluation, evaluation.output),
        evaluation.workerOperator(planLater(evaluation.child)))

    case MapInPandas(func: PythonUDF, output, child, isBarrier, profile) =>
      planned(Seq(func), func.evalType)(
        ThreadMapInBatchExec(func, output, planLater(child), isBarrier, profile, settings(func)),
        MapInPandasExec(func, output, planLater(child), isBarrier, profile))

    case MapInArrow(func: PythonUDF, output, child, isBarrier, profile) =>
      planned(Seq(func), func.evalType)(
        ThreadMapInBatchExec(func, output, planLater(child), isBarrier, profile, settings(func)),
        MapInArrowExec(func, output, planLater(child), isBarrier, profile))

    case FlatMapGroupsInPandas(grouping, func: PythonUDF, output, child) =>
      planned(Seq(func), func.evalType)(
        inGroups(grouping, func, output, inStruct = false, child),
        FlatMapGroupsInPandasExec(grouping, func, output, planLater(child)))

    case FlatMapGroupsInArrow(grouping, func: PythonUDF, output, child) =>
      planned(Seq(func), func.evalType)(
        inGroups(grouping, func, output, inStruct = true, child),
        FlatMapGroupsInArrowExec(grouping, func, output, planLater(child)))

    case both @ FlatMapCoGroupsInPandas(_, _, func: PythonUDF, output, left, right) =>
      planned(Seq(func), func.evalType)(
        inCogroups(both.leftAttributes, both.rightAttributes, func, output, left, right),
        FlatMapCoGroupsInPandasExec(
          both.leftAttributes,
          both.rightAttributes,
          func,
          output,
          planLater(left),
          planLater(right)))

    case both @ FlatMapCoGroupsInArrow(_, _, func: PythonUDF, output, left, right) =>
      planned(Seq(func), func.evalType)(
        inCogroups(both.leftAttributes, both.rightAttributes, func, output, left, right),
        FlatMapCoGroupsInArrowExec(
          both.leftAttributes,
          both.rightAttributes,
          func,
          output,
          planLater(left),
          planLater(right)))

    case BatchEvalPythonUDTF(udtf, requiredChildOutput, resultAttrs, child) =>
      planned(Seq(udtf), udtf.evalType)(
        ThreadEvalPythonUDTFExec(
          udtf,
          requiredChildOutput,
          resultAttrs,
          settings(udtf, udtf.evalType),
          planLater(child)),
        BatchEvalPythonUDTFExec(udtf, requiredChildOutput, resultAttrs, planLater(child)))

    case ArrowEvalPythonUDTF(udtf, requiredChildOutput, resultAttrs, child, evalType) =>
      planned(Seq(udtf), evalType)(
        ThreadArrowEvalPythonUDTFExec(
          udtf,
          requiredChildOutput,
          resultAttrs,
          settings(udtf, evalType),
          planLater(child)),
        ArrowEvalPythonUDTFExec(udtf, requiredChildOutput, resultAttrs, planLater(child), evalType))

    case PhysicalAggregation(grouping, PythonAggregates(aggregates), results, child) =>
      val operator = ArrowAggregatePythonExec(grouping, aggregates, results, planLater(child))
      val udafs = operator.udfExpressions
      planned(udafs, operator.evalType)(
        ThreadArrowAggregatePythonExec(
          grouping,
          aggregates,
          results,
          operator.evalType,
          settings(udafs.head, operator.evalType),
          operator.child),
        operator)

    case PhysicalWindow(WindowFunctionType.Python, expressions, partition, order, child) =>
      val operator = ArrowWindowPythonExec(expressions, partition, order, planLater(child))
      val udafs = WindowedInput.functions(expressions)
      planned(udafs, operator.evalType)(
        ThreadArrowWindowPythonExec(
          expressions,
          partition,
          order,
          operator.evalType,
          settings(udafs.head, operator.evalType),
          operator.child),
        operator)

    case ForeachSink(write) => planLater(write) :: Nil

    case _ => Nil
  }

  /** Matches aggregates all of which are Python functions; Spark refuses others among them. */
  private object PythonAggregates {
    def unapply(aggregates: Seq[AggregateExpression]): Option[Seq[AggregateExpression]] =
      Option.when(
        aggregates.nonEmpty && aggregates.forall(_.aggregateFunction.isInstanceOf[PythonUDAF]))(
        aggregates)
  }

  /** Matches functions that can run in thread mode. */
  private object InThread {
    def unapply(plan: LogicalPlan): Option[PythonEvaluation] =
      PythonEvaluation
        .unapply(plan)
        .filterNot(evaluation => RealTimeScan.isBelow(evaluation.child))
        .filter(evaluation => processModeReason(evaluation.udfs, evaluation.evalType).isEmpty)
  }

  private[planning] def picksColumn(expression: NamedExpression): Boolean = expression match {
    case _: Attribute | Alias(_: Attribute, _) => true
    case _ => false
  }

  private def inThread(evaluation: PythonEvaluation, columns: Seq[NamedExpression]): SparkPlan = {
    import evaluation._
    val physicalChild = planLater(child)
    val chosen = settings(udfs.head, evalType)
    if (PythonFunctions.takesRows(evalType)) {
      val bundled = RealTimeScan.oneByOne(chosen, child)
      ThreadEvalPythonExec(udfs, resultAttributes, columns, evalType, bundled, physicalChild)
    } else {
      ThreadArrowEvalPythonExec(udfs, resultAttributes, columns, evalType, chosen, physicalChild)
    }
  }

  private def inGroups(
      grouping: Seq[Attribute],
      func: PythonUDF,
      output: Seq[Attribute],
      inStruct: Boolean,
      child: LogicalPlan): SparkPlan =
    ThreadFlatMapGroupsInBatchExec(
      grouping,
      func,
      output,
      inStruct,
      settings(func),
      planLater(child))

  private def inCogroups(
      leftGrouping: Seq[Attribute],
      rightGrouping: Seq[Attribute],
      func: PythonUDF,
      output: Seq[Attribute],
      left: LogicalPlan,
      right: LogicalPlan): SparkPlan =
    ThreadFlatMapCoGroupsInBatchExec(
      leftGrouping,
      rightGrouping,
      func,
      output,
      settings(func),
      planLater(left),
      planLater(right))

  private def settings(func: PythonUDF): ThreadModeSettings = settings(func, func.evalType)

  private[planning] def settings(func: PythonFuncExpression, evalType: Int): ThreadModeSettings = {
    val isolatedRequired = PyFlowConf.INTERPRETER.in(conf) == "isolated"
    val interpreter = InterpreterChoice
      .of(PyFlowConf.INTERPRETER.in(conf), PythonFunctions.versions(func).head)
      .fold(reason => throw SparkException.internalError(reason), identity)
    ThreadModeSettings(
      EmbeddedPython.executable(sparkConf),
      // Known here if the driver runs Python itself; executors decide it for themselves.
      InterpreterChoice.inRunningPython(interpreter, isolatedRequired).getOrElse(interpreter),
      isolatedRequired,
      PyFlowConf.INTERPRETER_KEPT.in(conf),
      PyFlowConf.BUNDLE_SIZE.in(conf),
      PyFlowConf.BUNDLE_TIME.in(conf),
      PyFlowConf.PYTHON_TIMEOUT.in(conf),
      IdleTimeout.in(conf),
      PyFlowConf.isAuto(conf),
      PyFlowConf.mayFallBack(conf),
      WorkerSettings(
        runnerConf(evalType) ++
          conf.pythonUDFProfiler.map(SQLConf.PYTHON_UDF_PROFILER.key -> _),
        conf.arrowMaxRecordsPerBatch,
        conf.pysparkBinaryAsBytes,
        conf.pysparkHideTraceback,
        conf.pysparkSimplifiedTraceback,
        Setting.isOn(conf, TracebackWithLocals),
        PythonFunctions.jobArtifactUUID,
        PythonFunctions.jobArtifactUUID.filter(_ => PythonFunctions.hasSessionModules(func)),
        PythonFunctions.loggingSession(conf),
        LogLevels.of(PyFlowConf.LOG_LEVEL.in(conf), PyFlowConf.LOG_OVERRIDES.in(conf))))
  }

  private def runnerConf(evalType: Int): Map[String, String] =
    if (PythonFunctions.travelsPickled(evalType)) Map.empty
    else ArrowPythonRunner.getPythonRunnerConfMap(conf)

  /** One of two physical plans, by whether the functions can run in thread mode. */
  private[planning] def planned(udfs: Seq[PythonFuncExpression], evalType: Int)(
      inThread: => SparkPlan,
      inProcess: => SparkPlan): Seq[SparkPlan] = {
    val physical = processModeReason(udfs, evalType) match {
      case None => inThread
      case Some(reason) => ProcessModeFallback(udfs.map(_.toString), reason, names(udfs), inProcess)
    }
    physical :: Nil
  }

  /** The same for what a stream writes each batch with. */
  private[planning] def plannedWrite(udf: PythonUDF, inProcess: BatchWrite)(
      inThread: ThreadModeSettings => BatchWrite): BatchWrite =
    processModeReason(Seq(udf), udf.evalType) match {
      case None => inThread(settings(udf))
      case Some(reason) => ProcessModeFallback.write(udf.toString, reason, udf.name, inProcess)
    }

  private def processModeReason(udfs: Seq[PythonFuncExpression], evalType: Int): Option[String] =
    ProcessModeReason.of(udfs, evalType, conf, sparkConf)

  private def sparkConf: SparkConf = SparkEnv.get.conf

  private def names(udfs: Seq[PythonFuncExpression]): String =
    udfs.map(PythonFunctions.nameOf).mkString(", ")
}
