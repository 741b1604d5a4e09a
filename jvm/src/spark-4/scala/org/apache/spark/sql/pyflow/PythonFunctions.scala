package org.apache.spark.sql.pyflow

import org.apache.spark.{JobArtifactSet, SparkConf, SparkContext}
import org.apache.spark.api.python.PythonEvalType
import org.apache.spark.internal.config.IO_ENCRYPTION_ENABLED
import org.apache.spark.sql.catalyst.expressions.{Expression, PythonFuncExpression, PythonUDTF}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** The parts of a Python UDF, as far as Spark keeps them to its own packages. */
object PythonFunctions {
  val PickledEvalType: Int = PythonEvalType.SQL_BATCHED_UDF
  val ArrowEvalType: Int = PythonEvalType.SQL_ARROW_BATCHED_UDF

  val TableEvalType: Int = PythonEvalType.SQL_TABLE_UDF

  val MapEvalType: Int = PythonEvalType.SQL_MAP_ARROW_ITER_UDF

  /** Of functions that take an iterator of rows, as those of the RDD API do. */
  val ConsumerEvalType: Int = PythonEvalType.NON_UDF

  /** Whether functions are plain ones, of a row each; the others take Arrow batches. */
  def takesRows(evalType: Int): Boolean =
    travelsPickled(evalType) || evalType == ArrowEvalType

  /** Whether functions make a batch of results of each batch of arguments. */
  def takesBatch(evalType: Int): Boolean =
    evalType == PythonEvalType.SQL_SCALAR_PANDAS_UDF || evalType == PythonEvalType.SQL_SCALAR_ARROW_UDF

  /** Whether functions are processors that keep state and take the rows of a group. */
  def keepsStateOverRows(evalType: Int): Boolean =
    evalType == PythonEvalType.SQL_TRANSFORM_WITH_STATE_PYTHON_ROW_UDF ||
      evalType == PythonEvalType.SQL_TRANSFORM_WITH_STATE_PYTHON_ROW_INIT_STATE_UDF

  /** Of processors that keep state and take data frames. */
  def stateInPandasEvalType(hasInitialState: Boolean): Int =
    if (hasInitialState) PythonEvalType.SQL_TRANSFORM_WITH_STATE_PANDAS_INIT_STATE_UDF
    else PythonEvalType.SQL_TRANSFORM_WITH_STATE_PANDAS_UDF

  /** Whether process mode pickles arguments and results. */
  def travelsPickled(evalType: Int): Boolean =
    evalType == PickledEvalType || evalType == TableEvalType || evalType == ConsumerEvalType

  /** Whether a table function gets Arrow data, and not rows that only travel as such. */
  def takesArrowTables(udtf: PythonUDTF): Boolean =
    udtf.evalType == PythonEvalType.SQL_ARROW_UDTF

  /** The functions that a UDF chains, innermost first, and the arguments of the innermost. */
  def unchain(udf: PythonFuncExpression): (Seq[PickledFunction], Seq[Expression]) = {
    val function = new PickledFunction(udf.func)
    udf.children match {
      case Seq(inner: PythonFuncExpression) =>
        val (functions, arguments) = unchain(inner)
        (functions :+ function, arguments)
      case arguments => (Seq(function), arguments)
    }
  }

  def nameOf(udf: PythonFuncExpression): String = udf.children match {
    case Seq(inner: PythonFuncExpression) => s"${udf.name}(${nameOf(inner)})"
    case _ => udf.name
  }

  /** The names of the functions that a UDF chains, outermost first. */
  def names(udf: PythonFuncExpression): Seq[String] = chained(udf).map(_.name)

  /** The functions that a UDF chains, outermost first. */
  def chained(udf: PythonFuncExpression): Seq[PythonFuncExpression] = udf.children match {
    case Seq(inner: PythonFuncExpression) => udf +: chained(inner)
    case _ => Seq(udf)
  }

  /** Python versions, "3.13", of the processes that defined the functions. */
  def versions(udf: PythonFuncExpression): Seq[String] =
    unchain(udf)._1.map(_.pythonVersion).distinct

  /** Variables that the driver's Python wants in the environment of the functions. */
  def environment(udf: PythonFuncExpression): Map[String, String] =
    unchain(udf)._1.head.environment

  def executables(udf: PythonFuncExpression): Seq[String] =
    unchain(udf)._1.map(_.pythonExecutable).distinct

  /** The session's artifacts, where a Spark Connect session keeps its own files. */
  def jobArtifactUUID: Option[String] = JobArtifactSet.getCurrentJobArtifactState.map(_.uuid)

  /** The session that plans, if its `python_worker_logs()` shows what functions log. */
  def loggingSession(conf: SQLConf): Option[String] =
    SparkSession.getActiveSession.filter(_ => conf.pythonWorkerLoggingEnabled).map(_.sessionUUID)

  /** Python files of one session; another session may have different ones under the same names. */
  def hasSessionModules(udf: PythonFuncExpression): Boolean =
    jobArtifactUUID.isDefined && (unchain(udf)._1.exists(_.includes.nonEmpty) ||
      artifactsOfSession.exists(_.files.keys.exists(_.endsWith(".py"))))

  /** Archives of one session, which its workers find in their working directory. */
  def hasSessionArchives: Boolean =
    jobArtifactUUID.isDefined && artifactsOfSession.exists(_.archives.nonEmpty)

  private def artifactsOfSession: Option[JobArtifactSet] =
    SparkContext.getActive.map(JobArtifactSet.getActiveOrDefault(_))

  /** Broadcasts whose files only Spark's own worker protocol can decrypt. */
  def hasEncryptedBroadcasts(udf: PythonFuncExpression, conf: SparkConf): Boolean =
    conf.get(IO_ENCRYPTION_ENABLED) && unchain(udf)._1.exists(_.hasBroadcasts)
}
