package io.pyflow.execution.task

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.parse

import io.pyflow.bridge.PythonRuntime

/** What the tasks of this JVM do in Python now, and the threads that their functions have started. */
object TaskStacks {

  /** A JSON object for each thread, as `pyflow stack` prints it. */
  def toJson: JArray = {
    val calls = TaskSlot.calls
    val threads = parse(PythonRuntime.threads()).asInstanceOf[JArray].arr.map { thread =>
      val call = calls.find(known => thread \ "state" == JInt(known.thread))
      withCall(thread.removeField(_._1 == "state"), call)
    }
    JArray(threads ++ calls.filter(_.thread == 0).map(call => withCall(JObject(), Some(call))))
  }

  private def withCall(thread: JValue, call: Option[RunningCall]): JValue =
    call.fold(thread) { known =>
      thread.merge(
        JObject("task" -> JString(known.task), "functions" -> JString(known.functions)): JValue)
    }
}
