package io.pyflow.execution.fallback

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.parse

/** What the Python workers of this JVM do now. */
object WorkerStacks {
  private val Seconds = 10L

  /** A JSON object for each process, as `pyflow stack` prints it. */
  def toJson: JArray = JArray(PySpy.workers.toList.map { workers =>
    val process = workers.process.toString
    JObject(
      "process" -> JInt(workers.process),
      PySpy.run(workers, Seconds, "threads", "dump", "--json", "--pid", process)(parse(_)))
  })
}
