package io.pyflow.execution

import scala.jdk.CollectionConverters._
import scala.math.BigDecimal.RoundingMode
import scala.util.control.NonFatal

import org.apache.spark.{SparkEnv, SparkException}
import org.slf4j.LoggerFactory

import io.pyflow.bridge.{Interpreter, PythonRuntime, PythonUnavailableException}

/** Starts the embedded Python of this JVM. */
object PythonStart {
  private val log = LoggerFactory.getLogger(getClass)

  /** Returns when Python runs; at once if it already does. */
  def now(executable: String, functionEnvironment: Map[String, String]): Unit =
    try PythonRuntime.start(executable, (threadsOfLibraries ++ functionEnvironment).asJava)
    catch {
      case e: PythonUnavailableException => throw new SparkException(e.getMessage, e)
    }

  /** How many threads Spark lets OpenMP start in a worker, unless its environment says so. */
  private def threadsOfLibraries: Map[String, String] = {
    val cpus = BigDecimal(SparkEnv.get.conf.get("spark.task.cpus", "1"))
    Map("OMP_NUM_THREADS" -> cpus.setScale(0, RoundingMode.CEILING).toInt.toString)
  }

  /** A failure is only logged: the first task that needs Python meets it again and reports it. */
  def inBackground(
      executable: String,
      functionEnvironment: Map[String, String],
      interpreter: String,
      slots: Int): Unit = {
    val start: Runnable = () =>
      try {
        now(executable, functionEnvironment)
        preferred(interpreter).foreach(PythonRuntime.prewarm(_, slots))
      } catch {
        case NonFatal(e) => log.warn("The embedded Python could not be started ahead of time", e)
      }
    val thread = new Thread(start, "pyflow-warm-up")
    thread.setDaemon(true)
    thread.start()
  }

  /** None where the setting asks for what this Python does not have; tasks will say so. */
  private def preferred(setting: String): Option[Interpreter] =
    InterpreterChoice
      .of(setting, PythonRuntime.version)
      .flatMap(InterpreterChoice.inRunningPython(_, setting == "isolated"))
      .toOption
}
