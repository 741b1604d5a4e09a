package io.pyflow.execution.fallback

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.{CompletableFuture, TimeoutException, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.control.NonFatal

import org.json4s.JsonAST._

/**
 * Looks into the Python workers of this JVM. They know nothing of it: py-spy reads their memory,
 * where it is installed beside their Python, or on the path.
 */
private[fallback] object PySpy {
  private val Command = "py-spy"
  private val Daemon = "pyspark.daemon"
  private val Worker = "pyspark.worker"

  /** A process of workers: one, or that which forks them. */
  case class Workers(process: Long, arguments: Seq[String]) {
    def isDaemon: Boolean = arguments.contains(Daemon)
  }

  /** Those that run now. */
  def workers: Seq[Workers] =
    Using.resource(ProcessHandle.current.descendants()) { processes =>
      processes.iterator.asScala.toList.flatMap(ofProcess)
    }

  private def ofProcess(process: ProcessHandle): Option[Workers] =
    try {
      val line = new String(Files.readAllBytes(Path.of(s"/proc/${process.pid}/cmdline")), UTF_8)
      val arguments = line.split('\u0000').toSeq
      Some(Workers(process.pid, arguments))
        .filter(found => Seq(Daemon, Worker).exists(found.arguments.contains))
    } catch {
      case NonFatal(_) => None // it has ended
    }

  /** What it printed in so many seconds, under a name, or `error`. */
  def run(workers: Workers, seconds: Long, name: String, arguments: String*)(
      read: String => JValue): JField =
    try name -> read(printed(commandBeside(workers.arguments.head) +: arguments, seconds))
    catch {
      case _: IOException => "error" -> JString(s"$Command is not installed where it runs")
      case _: TimeoutException => "error" -> JString(s"$Command did not end in $seconds s")
      case NonFatal(e) => "error" -> JString(e.getMessage)
    }

  private def commandBeside(python: String): String =
    Option(Path.of(python).getParent)
      .map(_.resolve(Command))
      .filter(Files.isExecutable(_))
      .fold(Command)(_.toString)

  private def printed(command: Seq[String], seconds: Long): String = {
    val process = new ProcessBuilder(command: _*).redirectErrorStream(true).start()
    try {
      val read = CompletableFuture.supplyAsync(() => process.getInputStream.readAllBytes())
      val printed = new String(read.get(seconds, TimeUnit.SECONDS), UTF_8)
      if (process.waitFor() != 0) {
        throw new IllegalStateException(printed.trim)
      }
      printed
    } finally process.destroyForcibly()
  }
}
