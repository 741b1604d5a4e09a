package io.pyflow.execution

import org.apache.spark.sql.pyflow.WorkerSettings

import io.pyflow.bridge.Interpreter

/** What a session had configured for thread mode when a query was planned. */
case class ThreadModeSettings(
    python: String,
    interpreter: Interpreter,
    bundleRows: Int,
    bundleMillis: Long,
    pythonTimeoutMillis: Option[Long],
    fallback: Boolean,
    worker: WorkerSettings)
