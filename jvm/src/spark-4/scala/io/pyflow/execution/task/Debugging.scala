package io.pyflow.execution.task

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.{compact, parse, render}
import org.slf4j.LoggerFactory

import io.pyflow.bridge.PythonRuntime

/**
 * Whether a debugger is asked for in this JVM. It sees the shared interpreter alone, so all functions
 * that are loaded meanwhile run there.
 */
object Debugging {
  private val log = LoggerFactory.getLogger(Debugging.getClass)

  @volatile private var asked = false

  private[execution] def isAskedFor: Boolean = asked

  /** Does what `pyflow debug` asks for; a JSON object with `address` or `error`. */
  def begin(request: JValue): JValue =
    if (!PythonRuntime.isStarted) {
      JObject("error" -> JString("no Python runs in its JVM: its functions run in workers, which cannot be debugged, or none " +
        "has run yet. Set spark.pyflow.execution-mode=thread, or python.debug.loopback=true with " +
        "a local master"))
    } else {
      val answer = parse(PythonRuntime.askDebugger(compact(render(request))))
      if (answer \ "address" != JNothing && !asked) {
        asked = true
        log.warn(
          "Functions run in the shared interpreter from now on, where a debugger may attach to them")
      }
      answer
    }

  def end(): JValue = {
    asked = false
    JObject()
  }
}
