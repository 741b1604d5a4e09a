package io.pyflow.config

import java.util.Locale
import java.util.concurrent.TimeUnit

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.Setting

/**
 * Every setting of PyFlow. Registered with Spark's own session configuration, so that
 * `spark.conf.set` refuses a wrong value and `SET -v` lists them; the reference page of the
 * documentation is printed by `main`.
 */
object PyFlowConf {
  val ProcessMode = "process"
  private val Auto = "auto"

  val EXECUTION_MODE: Setting[String] = Setting.perSession(
    key = "spark.pyflow.execution-mode",
    doc = "Where Python functions run: `process` is Spark's own Python workers, `thread` is " +
      "inside the executor's JVM, `auto` is `thread` until tasks that share an interpreter are " +
      "found waiting for its GIL for a third of their time, then `process` for their functions. " +
      "Read when a query is planned, so it can change between queries.",
    values = "`process`, `thread`, `auto`",
    version = "0.1.0")(
    _.stringConf
      .transform(_.toLowerCase(Locale.ROOT))
      .checkValues(Set(ProcessMode, "thread", Auto))
      .createWithDefault(ProcessMode))

  val INTERPRETER: Setting[String] = Setting.perSession(
    key = "spark.pyflow.interpreter",
    doc = "Which interpreter a task uses in thread mode: `shared` is one interpreter for the " +
      "whole JVM, whose tasks take turns, unless the Python is a free-threaded one; `isolated` is " +
      "one per task slot, each with its own GIL (Python 3.13 and newer, not free-threaded); " +
      "`auto` is `isolated` where Python has it, else `shared`.",
    values = "`auto`, `shared`, `isolated`",
    version = "0.1.0")(
    _.stringConf
      .transform(_.toLowerCase(Locale.ROOT))
      .checkValues(Set("auto", "shared", "isolated"))
      .createWithDefault("auto"))

  val INTERPRETER_KEPT: Setting[Boolean] = Setting.perSession(
    key = "spark.pyflow.interpreter.kept",
    doc = "Whether isolated interpreters stay with the subtasks of a streaming query: the tasks of " +
      "a partition use the same one in every batch, and find what the batches before have left in " +
      "modules; other queries do not use it. Data streams set it, whose functions stay open.",
    values = "`true`, `false`",
    version = "0.1.0")(_.booleanConf.createWithDefault(false))

  val BUNDLE_SIZE: Setting[Int] = Setting.perSession(
    key = "spark.pyflow.bundle.size",
    doc = "Upper bound, in rows, of the bundle that is passed to Python in one call. Bundles " +
      "start with one row and grow while they take little time.",
    values = "positive integer",
    version = "0.1.0")(_.intConf.checkValue(_ > 0, "it must be positive").createWithDefault(1024))

  val BUNDLE_TIME: Setting[Long] = Setting.perSession(
    key = "spark.pyflow.bundle.time",
    doc = "Upper bound of the time in which a bundle is gathered and evaluated. Bundles of " +
      "functions that take longer get smaller, down to one row.",
    values = "positive time, in milliseconds if it has no unit",
    version = "0.1.0")(
    _.timeConf(TimeUnit.MILLISECONDS)
      .checkValue(_ > 0, "it must be positive")
      .createWithDefault(50L))

  val PYTHON_TIMEOUT: Setting[Option[Long]] = Setting.perSession(
    key = "spark.pyflow.python.timeout",
    doc = "How long the functions may take over one bundle, which is a single row where they are " +
      "slow. After that time they are interrupted and their task fails. No limit by default.",
    values = "positive time, in milliseconds if it has no unit",
    version = "0.1.0")(
    _.timeConf(TimeUnit.MILLISECONDS).checkValue(_ > 0, "it must be positive").createOptional)

  val FALLBACK: Setting[Boolean] = Setting.perSession(
    key = "spark.pyflow.fallback",
    doc = "What happens with a function that cannot run in thread mode: `true` runs it in " +
      "process mode and shows the reason in EXPLAIN and in the log, `false` makes it an error " +
      "if the execution mode is `thread`.",
    values = "`true`, `false`",
    version = "0.1.0")(_.booleanConf.createWithDefault(true))

  val LOG_LEVEL: Setting[Option[String]] = Setting.perSession(
    key = "spark.pyflow.logging.level",
    doc =
      "From which level on loggers of Python write to the executor's log, in thread mode, unless " +
        "functions or modules set another. Without it, records from `WARNING` on are written that no " +
        "handler of a function takes, as workers write them.",
    values = "`OFF`, `ERROR`, `WARN`, `INFO`, `DEBUG`, `TRACE`, or a number of Python's `logging`",
    version = "0.1.0")(
    _.stringConf
      .checkValue(LogLevels.number(_).isDefined, "it must be a level of Python's logging")
      .createOptional)

  val LOG_OVERRIDES: Setting[Option[String]] = Setting.perSession(
    key = "spark.pyflow.logging.overrides",
    doc = "The levels of single loggers and those below them, in the same way.",
    values = "`logger:level`, separated by commas",
    version = "0.1.0")(
    _.stringConf
      .checkValue(LogLevels.byLogger(_).isDefined, "it must be logger:level,logger:level")
      .createOptional)

  val PYTHON: Setting[Option[String]] = Setting.perApplication(
    key = "spark.pyflow.python",
    doc = "The Python executable whose environment is embedded in the executors. Without it, " +
      "the one that Spark would start: spark.pyspark.python, PYSPARK_PYTHON, python3.",
    values = "path or name of an executable",
    version = "0.1.0")(_.stringConf.createOptional)

  val ALLOWED: Setting[Option[String]] = Setting.perApplication(
    key = "spark.pyflow.thread-mode.allowed",
    doc = "Which functions may run in thread mode; no session can change it: all (`true`), none " +
      "(`false`), or those with one of these names, in which `*` stands for any characters and " +
      "`?` for one. Others stay in process mode. Without it, all may; on a Spark Connect server " +
      "only those in sessions of the user who runs it.",
    values = "`true`, `false`, or names separated by commas",
    version = "0.1.0")(
    _.stringConf
      .checkValue(
        _.split(",", -1).forall(_.trim.nonEmpty),
        "it must be true, false or a list of names without empty ones")
      .createOptional)

  val UI_ENABLED: Setting[Boolean] = Setting.perApplication(
    key = "spark.pyflow.ui.enabled",
    doc =
      "Whether Spark's UI has a tab \"Python\", where it is enabled (`spark.ui.enabled`), and the " +
        "driver metrics of all functions.",
    values = "`true`, `false`",
    version = "0.1.0")(_.booleanConf.createWithDefault(true))

  val settings: Seq[Setting[_]] =
    Seq(
      EXECUTION_MODE,
      INTERPRETER,
      INTERPRETER_KEPT,
      BUNDLE_SIZE,
      BUNDLE_TIME,
      PYTHON_TIMEOUT,
      FALLBACK,
      LOG_LEVEL,
      LOG_OVERRIDES,
      PYTHON,
      ALLOWED,
      UI_ENABLED)

  def isProcessMode(conf: SQLConf): Boolean = EXECUTION_MODE.in(conf) == ProcessMode

  def isAuto(conf: SQLConf): Boolean = EXECUTION_MODE.in(conf) == Auto

  /** Whether functions that cannot run in thread mode may run in process mode. */
  def mayFallBack(conf: SQLConf): Boolean = isAuto(conf) || FALLBACK.in(conf)

  /** Makes the settings known to Spark, before sessions read their configuration. */
  def register(): Unit = assert(settings.nonEmpty)

  /** The reference of all settings as a Markdown table. */
  def markdown: String = {
    val rows = settings.map { setting =>
      val scope = if (setting.perSession) "session" else "application"
      val default = if (setting.default.isEmpty) "" else s"`${setting.default}`"
      s"| `${setting.key}` | ${setting.values} | $default | $scope | ${setting.doc} " +
        s"| ${setting.version} |"
    }
    val header = Seq(
      "| key | values | default | scope | meaning | since |",
      "| --- | --- | --- | --- | --- | --- |")
    (header ++ rows).mkString("", "\n", "\n")
  }

  def main(arguments: Array[String]): Unit = {
    require(arguments.isEmpty, "no arguments are known")
    print(markdown)
  }
}
