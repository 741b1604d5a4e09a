package io.pyflow.execution.fallback

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.util.concurrent.CompletableFuture

import org.json4s.JsonAST._

/** Where the Python workers of this JVM spend their time. */
object WorkerProfile {

  /** What py-spy may take longer than it samples. */
  private val PatienceSeconds = 15L

  /**
   * Begins to sample those that run now, and those that their daemons will fork. The function waits
   * for the end: a JSON object for each process, as `pyflow profile` reads it.
   */
  def begin(seconds: Double, rate: Double): () => JArray = {
    val found = PySpy.workers
    val daemons = found.filter(_.isDaemon)
    // Forked workers have the command line of their daemon.
    val roots = if (daemons.isEmpty) found else daemons.filterNot(isForked(_, daemons))
    val begun = roots.toList.map { workers =>
      CompletableFuture.supplyAsync(() => profiled(workers, seconds, rate))
    }
    () => JArray(begun.map(_.join()))
  }

  private def isForked(workers: PySpy.Workers, daemons: Seq[PySpy.Workers]): Boolean = {
    val parent = ProcessHandle.of(workers.process).flatMap[ProcessHandle](_.parent)
    parent.isPresent && daemons.exists(_.process == parent.get.pid)
  }

  private def profiled(workers: PySpy.Workers, seconds: Double, rate: Double): JObject = {
    val output = Files.createTempFile("pyflow-profile-", ".txt")
    val arguments = Seq("record", "--pid", workers.process.toString, "--subprocesses") ++
      Seq(
        "--nonblocking",
        "--function",
        "--full-filenames",
        "--format",
        "raw",
        "--output",
        output.toString) ++
      Seq("--duration", seconds.ceil.toLong.toString, "--rate", rate.ceil.toLong.toString)
    try {
      val patience = seconds.toLong + PatienceSeconds
      JObject(
        "process" -> JInt(workers.process),
        PySpy.run(workers, patience, "stacks", arguments: _*) { _ =>
          JString(new String(Files.readAllBytes(output), UTF_8))
        })
    } finally Files.deleteIfExists(output)
  }
}
