package io.pyflow.planning

import org.apache.spark.SparkConf
import org.apache.spark.sql.catalyst.expressions.{Expression, NamedArgumentExpression, PythonFuncExpression}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.PythonFunctions
import org.apache.spark.sql.types._

import io.pyflow.admission.{ContendedFunctions, ExecutorStarts, FunctionIdentity, GilWatch, HeldGils, Permission, PythonStart, Quarantine}
import io.pyflow.bridge.InterpreterKind
import io.pyflow.config.{EmbeddedPython, InterpreterChoice, PyFlowConf}
import io.pyflow.spec.FunctionEnvironment

/** Why functions have to stay in process mode. */
object ProcessModeReason {
  private val SupportedPythons = 10 to 14
  private val WorkerReuse = "spark.python.worker.reuse"
  private val WorkerModule = "spark.python.worker.module"
  private val DefaultWorker = "pyspark.worker"

  /**
   * The first reason found; None if thread mode can run all the functions of the operator.
   *
   * @param canLeave whether workers can run them instead; where they cannot, functions wait for each
   *     other
   */
  def of(
      udfs: Seq[PythonFuncExpression],
      evalType: Int,
      conf: SQLConf,
      sparkConf: SparkConf,
      canLeave: Boolean = true): Option[String] =
    ofSession(evalType, conf, sparkConf)
      .orElse(ofStart(sparkConf))
      .orElse(ofSharedInterpreter(udfs.head, evalType, conf).filter(_ => canLeave))
      .orElse(first(udfs)(ofSessionModules(_, evalType, conf, canLeave)))
      .orElse(first(udfs) { udf =>
        val reason = ofFunction(udf, conf, sparkConf, canLeave).orElse(ofValues(udf, evalType))
        if (udfs.length > 1) reason.map(text => s"${udf.name}: $text") else reason
      })

  /** What the row lane cannot convert; PySpark converts Arrow batches itself. */
  private def ofValues(udf: PythonFuncExpression, evalType: Int): Option[String] = evalType match {
    case PythonFunctions.PickledEvalType | PythonFunctions.TableEvalType |
        PythonFunctions.ConsumerEvalType =>
      ofTypes(udf)
    case PythonFunctions.ArrowEvalType => ofTypes(udf).orElse(ofArrow(udf))
    case _ if PythonFunctions.keepsStateOverRows(evalType) => ofTypes(udf).orElse(ofArrow(udf))
    case _ => None
  }

  private def ofSession(evalType: Int, conf: SQLConf, sparkConf: SparkConf): Option[String] = {
    val arrow = evalType == PythonFunctions.ArrowEvalType
    def is(key: String): Boolean = sparkConf.getBoolean(key, defaultValue = false)
    if (conf.pythonUDFProfiler.contains("memory")) {
      // What it measures is the memory of a process.
      Some(s"the memory profiler is on (${SQLConf.PYTHON_UDF_PROFILER.key})")
    } else if (is("spark.python.profile") || is("spark.python.profile.memory")) {
      Some("the Python profiler is on (spark.python.profile)")
    } else if (!sparkConf.getBoolean(WorkerReuse, defaultValue = true)) {
      Some(s"each task asks for a new worker ($WorkerReuse=false)")
    } else if (sparkConf.get(WorkerModule, DefaultWorker) != DefaultWorker) {
      Some(s"workers run a module of their own ($WorkerModule=${sparkConf.get(WorkerModule)})")
    } else if (arrow && conf.getConf(SQLConf.PYTHON_UDF_LEGACY_PANDAS_CONVERSION_ENABLED)) {
      Some(
        "values are converted through pandas " +
          s"(${SQLConf.PYTHON_UDF_LEGACY_PANDAS_CONVERSION_ENABLED.key})")
    } else if (arrow && conf.pythonUDFArrowConcurrencyLevel.exists(_ > 0)) {
      Some(
        "rows of a batch are evaluated concurrently " +
          s"(${SQLConf.PYTHON_UDF_ARROW_CONCURRENCY_LEVEL.key})")
    } else {
      None
    }
  }

  /** Found in executors, of which the driver is one in local mode. */
  private def ofStart(sparkConf: SparkConf): Option[String] =
    ExecutorStarts.reason.orElse(PythonStart.knownFailure(EmbeddedPython.executable(sparkConf)))

  /** A session that rules process mode out waits. */
  private def ofSharedInterpreter(
      udf: PythonFuncExpression,
      evalType: Int,
      conf: SQLConf): Option[String] = {
    val choice = InterpreterChoice
      .of(PyFlowConf.INTERPRETER.in(conf), PythonFunctions.versions(udf).head)
      .getOrElse(InterpreterKind.SHARED)
    val isolated = choice == InterpreterKind.ISOLATED && takesSlot(evalType)
    if (isolated || !PyFlowConf.mayFallBack(conf)) None
    else HeldGils.reason.orElse(GilWatch.reason)
  }

  /** An isolated interpreter has modules of one session at a time; the shared one has none. */
  private def ofSessionModules(
      udf: PythonFuncExpression,
      evalType: Int,
      conf: SQLConf,
      canLeave: Boolean): Option[String] = {
    val choice =
      InterpreterChoice.of(PyFlowConf.INTERPRETER.in(conf), PythonFunctions.versions(udf).head)
    val mayBeIsolated = canLeave && PythonFunctions.takesRows(evalType) && takesSlot(evalType) &&
      !PythonFunctions.keepsStateOverRows(evalType) && choice == Right(InterpreterKind.ISOLATED)
    Option.when(PythonFunctions.hasSessionModules(udf) && !mayBeIsolated)(
      "it uses Python files of this session only (Spark Connect artifacts), which the shared " +
        "interpreter does not have")
  }

  /** Whether functions run in the interpreter of their task's choice, not in the shared one. */
  private def takesSlot(evalType: Int): Boolean =
    PythonFunctions.keepsStateOverRows(evalType) ||
      PythonFunctions.takesRows(evalType) && evalType != PythonFunctions.ConsumerEvalType

  private def ofFunction(
      udf: PythonFuncExpression,
      conf: SQLConf,
      sparkConf: SparkConf,
      canLeave: Boolean): Option[String] = {
    def executable = conf.pysparkWorkerPythonExecutable match {
      case Some(chosenBySession) => Seq(chosenBySession)
      case None => PythonFunctions.executables(udf)
    }
    Permission
      .refusal(PythonFunctions.names(udf), sparkConf)
      .orElse(first(PythonFunctions.versions(udf))(ofVersion(_, conf)))
      .orElse(first(executable)(EmbeddedPython.refusal(_, sparkConf)))
      .orElse(ofSurroundings(udf, sparkConf))
      .orElse(first(PythonFunctions.unchain(udf)._1.map(_.command))(OwnProcess.reasonAgainst))
      .orElse(Quarantine.reasonAgainst(FunctionIdentity.of(udf)))
      .orElse(ContendedFunctions
        .reasonAgainst(canLeave && PyFlowConf.isAuto(conf), FunctionIdentity.of(udf)))
  }

  private def ofVersion(version: String, conf: SQLConf): Option[String] =
    if (!InterpreterChoice.minor(version).exists(SupportedPythons.contains)) {
      Some(
        s"it was defined in Python $version; " +
          s"thread mode has 3.${SupportedPythons.head} to 3.${SupportedPythons.last}")
    } else {
      InterpreterChoice.of(PyFlowConf.INTERPRETER.in(conf), version).left.toOption
    }

  private def ofTypes(udf: PythonFuncExpression): Option[String] =
    first(arguments(udf).map(_.dataType) ++ results(udf))(unsupported).map { dataType =>
      s"thread mode has no conversion for type ${dataType.simpleString}"
    }

  private def arguments(udf: PythonFuncExpression): Seq[Expression] =
    PythonFunctions.unchain(udf)._2.map {
      case NamedArgumentExpression(_, value) => value
      case value => value
    }

  /** What Spark refuses on the way to a worker or back, whatever the values are. */
  private def ofArrow(udf: PythonFuncExpression): Option[String] =
    if (changedByArrow(udf.dataType)) {
      Some(s"Arrow does not keep its result type ${udf.dataType.simpleString}")
    } else {
      arguments(udf).map(_.dataType).find(contains(_)(hasDuplicateNames)).map { dataType =>
        s"Arrow refuses the duplicate field names of ${dataType.simpleString}"
      }
    }

  private def hasDuplicateNames(dataType: DataType): Boolean = dataType match {
    case struct: StructType => struct.names.distinct.length < struct.length
    case _ => false
  }

  private def changedByArrow(dataType: DataType): Boolean = contains(dataType) {
    case time: TimeType => time.precision != TimeType.MICROS_PRECISION
    case udt: UserDefinedType[_] => contains(udt.sqlType)(_.isInstanceOf[UserDefinedType[_]])
    case _ => false
  }

  private[planning] def contains(dataType: DataType)(predicate: DataType => Boolean): Boolean =
    predicate(dataType) || (dataType match {
      case ArrayType(element, _) => contains(element)(predicate)
      case MapType(key, value, _) => contains(key)(predicate) || contains(value)(predicate)
      case StructType(fields) => fields.exists(field => contains(field.dataType)(predicate))
      case _ => false
    })

  /** Results within a chain too: Python converts none of them, but each is declared. */
  private def results(udf: PythonFuncExpression): Seq[DataType] =
    udf.dataType +: udf.children.flatMap {
      case inner: PythonFuncExpression => results(inner)
      case _ => Nil
    }

  private def unsupported(dataType: DataType): Option[DataType] = dataType match {
    case ArrayType(element, _) => unsupported(element)
    case MapType(key, value, _) => unsupported(key).orElse(unsupported(value))
    case StructType(fields) => first(fields.map(_.dataType).toSeq)(unsupported)
    case udt: UserDefinedType[_] => unsupported(udt.sqlType)
    case BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType |
        _: DecimalType | _: StringType | BinaryType | DateType | TimestampType | TimestampNTZType |
        _: TimeType | _: DayTimeIntervalType | NullType | VariantType =>
      None
    case other => Some(other)
  }

  private def ofSurroundings(udf: PythonFuncExpression, sparkConf: SparkConf): Option[String] =
    if (PythonFunctions.hasEncryptedBroadcasts(udf, sparkConf)) {
      Some("it uses broadcast variables, which are encrypted (spark.io.encryption.enabled)")
    } else if (PythonFunctions.hasSessionArchives) {
      Some("it uses archives of this session only (Spark Connect artifacts)")
    } else {
      FunctionEnvironment.reasonAgainst(PythonFunctions.environment(udf), sparkConf)
    }

  private def first[A, B](candidates: Seq[A])(reason: A => Option[B]): Option[B] =
    candidates.iterator.flatMap(reason(_)).nextOption()
}
