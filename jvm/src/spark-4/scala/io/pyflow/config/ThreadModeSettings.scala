package io.pyflow.config

import org.apache.spark.sql.internal.SQLConf

import io.pyflow.bridge.InterpreterKind

/**
 * The settings of a session for thread mode when a query was planned.
 *
 * @param interpreter where functions over rows run, by their Python version
 * @param isolatedRequired whether the session asks for isolated interpreters by name
 * @param keepsInterpreters whether isolated interpreters stay with subtasks of streaming queries
 * @param auto whether functions may leave for process mode where that is faster
 * @param fallback whether functions may leave for process mode where they must
 * @param advice what can be done for functions that must and may not, for errors
 */
case class ThreadModeSettings(
    python: String,
    interpreter: InterpreterKind,
    isolatedRequired: Boolean,
    keepsInterpreters: Boolean,
    bundleRows: Int,
    bundleMillis: Long,
    pythonTimeoutMillis: Option[Long],
    idleTimeout: Option[IdleTimeout],
    auto: Boolean,
    fallback: Boolean,
    worker: WorkerSettings,
    advice: String = ThreadModeSettings.Advice) {

  /** For functions that process mode has no place for. */
  def only(advice: String): ThreadModeSettings =
    copy(auto = false, fallback = false, advice = advice)
}

object ThreadModeSettings {
  private val Advice =
    s"Set ${PyFlowConf.FALLBACK.key}=true to run such functions in process mode, or " +
      s"${PyFlowConf.EXECUTION_MODE.key}=process for this query."

  /** For functions that cannot go to workers by themselves. */
  val ProcessAdvice: String = s"Set ${PyFlowConf.EXECUTION_MODE.key}=process for this query."
}

/**
 * Spark's limit for functions that neither take nor return data.
 *
 * @param kills whether it ends their task; otherwise only a warning is logged
 */
case class IdleTimeout(seconds: Long, kills: Boolean)

object IdleTimeout {
  def in(conf: SQLConf): Option[IdleTimeout] =
    Option.when(conf.pythonUDFWorkerIdleTimeoutSeconds > 0)(
      IdleTimeout(conf.pythonUDFWorkerIdleTimeoutSeconds, conf.pythonUDFWorkerKillOnIdleTimeout))
}
