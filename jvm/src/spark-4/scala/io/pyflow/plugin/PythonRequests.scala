package io.pyflow.plugin

import scala.concurrent.duration._
import scala.util.{Failure, Success}

import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.sql.pyflow.{ExecutorRequests, Executors}
import org.apache.spark.sql.pyflow.ui.{PythonEvents, PythonExecutorState, PythonInterpreter}
import org.json4s.{DefaultFormats, Formats}
import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import io.pyflow.bridge.PythonRuntime
import io.pyflow.execution.fallback.{WorkerProfile, WorkerStacks}
import io.pyflow.execution.task.{Debugging, LoadedModules, TaskProfile, TaskStacks}

/**
 * What the Python code of an application does, in all its executors; pyflow/session/operation.py
 * asks for it on the driver. Answers are JSON arrays of executors.
 */
object PythonRequests {
  private val Stacks = "stacks"
  private val Profile = "profile (.+) (.+)".r
  private val State = "state"
  private val Debug = "debug (.+)".r
  private val EndDebugging = "end debugging"
  private val Patience = 20.seconds
  private val StatePatience = 5.seconds

  /** Has an executor answer when the driver asks. */
  def serve(context: PluginContext): Unit = ExecutorRequests.serve(context) { request =>
    val answer = request match {
      case Stacks => stacks
      case State => state
      case Profile(seconds, rate) => profile(seconds.toDouble, rate.toDouble)
      case Debug(arguments) => Debugging.begin(parse(arguments))
      case EndDebugging => Debugging.end()
      case other => throw new IllegalArgumentException(s"unknown request $other")
    }
    compact(render(described.merge(answer)))
  }

  /** What it does now. */
  def stacksOfAllExecutors: String = asked(Stacks, Patience)

  /** Tells listeners what it has loaded. */
  def tellOfState(): Unit = {
    implicit val formats: Formats = DefaultFormats
    ExecutorRequests.ask(State, StatePatience).foreach {
      case (executor, Success(answer)) =>
        val state = parse(answer)
        PythonEvents.post(
          PythonExecutorState(
            System.currentTimeMillis,
            executor,
            (state \ "host").extract[String],
            (state \ "python").extractOpt[String].getOrElse(""),
            (state \ "memory").extract[Long],
            (state \ "interpreters").extract[Seq[PythonInterpreter]]))
      // It has ended, or waits for a GIL.
      case _ =>
    }
  }

  /** Where it spends its time for so many seconds, at so many samples in each. */
  def profileOfAllExecutors(seconds: Double, rate: Double): String =
    asked(s"profile $seconds $rate", Patience + seconds.seconds)

  /**
   * Where a debugger can attach to their functions.
   *
   * @param arguments JSON, as pyflow.thread_mode.debugger has it
   */
  def debugAllExecutors(arguments: String): String = asked(s"debug $arguments", Patience)

  /** Has functions run where they would without a debugger. */
  def endDebuggingOfAllExecutors(): String = asked(EndDebugging, Patience)

  private def asked(request: String, patience: FiniteDuration): String =
    compact(render(JArray(ExecutorRequests.ask(request, patience).toList.map {
      case (executor, Success(answer)) => withId(executor, parse(answer))
      case (executor, Failure(e)) => withId(executor, JObject("error" -> JString(e.toString)))
    })))

  private def withId(executor: String, described: JValue): JValue =
    JObject("executor" -> JString(executor)).merge(described)

  private def described: JObject = JObject(
    "host" -> JString(Executors.host),
    "python" -> (if (PythonRuntime.isStarted) JString(PythonRuntime.version) else JNull))

  private def stacks: JObject =
    JObject("threads" -> TaskStacks.toJson, "workers" -> WorkerStacks.toJson)

  private def state: JObject = JObject(
    "memory" -> JInt(PythonRuntime.memoryBytes),
    "interpreters" -> parse(LoadedModules.toJson))

  private def profile(seconds: Double, rate: Double): JObject = {
    val workers = WorkerProfile.begin(seconds, rate)
    val tasks = TaskProfile.toJson(seconds, rate)
    JObject("tasks" -> tasks, "workers" -> workers())
  }
}
