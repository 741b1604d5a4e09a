package io.pyflow.execution.fallback

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.{CompletableFuture, TimeoutException, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.control.NonFatal

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.parse

/**
 * What the Python workers of this JVM do now. They know nothing of it: py-spy reads their memory,
 * where it is installed beside their Python, or on the path.
 */
object WorkerStacks {
  private val Command = "py-spy"
  private val Seconds = 10L
  private val Modules = Seq("pyspark.daemon", "pyspark.worker")

  /** A JSON object for each process, as `pyflow stack` prints it. */
  def toJson: JArray =
    JArray(
      Using
        .resource(ProcessHandle.current.descendants()) { processes =>
          processes.iterator.asScala.toList.flatMap(process => arguments(process).map(process -> _))
        }
        .map { case (process, arguments) =>
          JObject(
            "process" -> JInt(process.pid),
            described(process.pid, commandBeside(arguments.head)))
        })

  /** The command line of a worker, or of the process that forks them. */
  private def arguments(process: ProcessHandle): Option[Seq[String]] =
    try {
      val line = new String(Files.readAllBytes(Path.of(s"/proc/${process.pid}/cmdline")), UTF_8)
      Some(line.split('\u0000').toSeq).filter(_.exists(Modules.contains))
    } catch {
      case NonFatal(_) => None // it has ended
    }

  private def commandBeside(python: String): String =
    Option(Path.of(python).getParent)
      .map(_.resolve(Command))
      .filter(Files.isExecutable(_))
      .fold(Command)(_.toString)

  private def described(process: Long, command: String): JField =
    try {
      "threads" -> parse(ran(Seq(command, "dump", "--json", "--pid", process.toString)))
    } catch {
      case _: IOException => "error" -> JString(s"$Command is not installed where it runs")
      case _: TimeoutException => "error" -> JString(s"$Command did not end in $Seconds s")
      case NonFatal(e) => "error" -> JString(e.getMessage)
    }

  private def ran(command: Seq[String]): String = {
    val process = new ProcessBuilder(command: _*).redirectErrorStream(true).start()
    try {
      val read = CompletableFuture.supplyAsync(() => process.getInputStream.readAllBytes())
      val printed = new String(read.get(Seconds, TimeUnit.SECONDS), UTF_8)
      if (process.waitFor() != 0) {
        throw new IllegalStateException(printed.trim)
      }
      printed
    } finally process.destroyForcibly()
  }
}
