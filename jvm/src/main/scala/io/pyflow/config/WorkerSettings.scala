package io.pyflow.config

/**
 * Settings of the session that process mode would send to its Python workers.
 *
 * @param loggingSession the session if what functions log goes to its `python_worker_logs()`
 */
case class WorkerSettings(
    runnerConf: Map[String, String],
    arrowMaxRecordsPerBatch: Int,
    binaryAsBytes: Boolean,
    hideTraceback: Boolean,
    simplifiedTraceback: Boolean,
    tracebackWithLocals: Boolean,
    jobArtifactUUID: Option[String],
    loggingSession: Option[String])
