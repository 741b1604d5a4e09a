package io.pyflow.planning

import org.apache.spark.sql.AnalysisException

import io.pyflow.config.PyFlowConf

/** A function cannot run in thread mode, and the session has ruled process mode out. */
class ThreadModeUnavailableException(functions: String, reason: String)
  extends AnalysisException(
    errorClass = "PYFLOW_THREAD_MODE_UNAVAILABLE",
    sqlState = "0A000",
    messageTemplate = "<functions> cannot run in thread mode: <reason>. Set " +
      s"${PyFlowConf.FALLBACK.key}=true to run such functions in process mode, or " +
      s"${PyFlowConf.EXECUTION_MODE.key}=process for this query.",
    messageParameters = Map("functions" -> functions, "reason" -> reason),
    cause = None,
    message = None)

/**
 * A function cannot run over a stream in real-time mode, where process mode is none for it.
 *
 * @param inProcessMode what process mode is there
 */
class RealTimeModeRefusalException(
    functions: String,
    reason: String,
    inProcessMode: String = "Spark runs no Python functions there in process mode")
  extends AnalysisException(
    errorClass = "PYFLOW_REAL_TIME_MODE_UNAVAILABLE",
    sqlState = "0A000",
    messageTemplate = "<functions> cannot run in Spark's real-time mode: <reason>. " +
      "<inProcessMode>. With another trigger the function can run.",
    messageParameters =
      Map("functions" -> functions, "reason" -> reason, "inProcessMode" -> inProcessMode),
    cause = None,
    message = None)
