package io.pyflow.plugin

import scala.concurrent.duration._
import scala.util.{Failure, Success}

import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.sql.pyflow.{ExecutorRequests, Executors}
import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import io.pyflow.bridge.PythonRuntime
import io.pyflow.execution.fallback.WorkerStacks
import io.pyflow.execution.task.TaskStacks

/** What the Python code of an application does now, in all its executors. */
object PythonStacks {
  private val Request = "stacks"
  private val Patience = 20.seconds

  /** Has an executor tell it when the driver asks. */
  def serve(context: PluginContext): Unit = ExecutorRequests.serve(context) {
    case Request => compact(render(ofThisExecutor))
    case other => throw new IllegalArgumentException(s"unknown request $other")
  }

  /** A JSON array of executors; pyflow/session/operation.py asks for it on the driver. */
  def ofAllExecutors: String =
    compact(render(JArray(ExecutorRequests.ask(Request, Patience).toList.map {
      case (executor, Success(answer)) => withId(executor, parse(answer))
      case (executor, Failure(e)) => withId(executor, JObject("error" -> JString(e.toString)))
    })))

  private def withId(executor: String, described: JValue): JValue =
    JObject("executor" -> JString(executor)).merge(described)

  private def ofThisExecutor: JValue = JObject(
    "host" -> JString(Executors.host),
    "python" -> (if (PythonRuntime.isStarted) JString(PythonRuntime.version) else JNull),
    "threads" -> TaskStacks.toJson,
    "workers" -> WorkerStacks.toJson)
}
