package io.pyflow.config

/**
 * Settings of the session that process mode would send to its Python workers.
 *
 * @param loggingSession the session if what functions log goes to its `python_worker_logs()`
 * @param modulesOfSession the session's artifacts if there are Python files among them
 * @param logLevels of loggers in Python, if the session has set any
 */
case class WorkerSettings(
    runnerConf: Map[String, String],
    arrowMaxRecordsPerBatch: Int,
    binaryAsBytes: Boolean,
    hideTraceback: Boolean,
    simplifiedTraceback: Boolean,
    tracebackWithLocals: Boolean,
    jobArtifactUUID: Option[String],
    modulesOfSession: Option[String],
    loggingSession: Option[String],
    logLevels: Option[LogLevels])
