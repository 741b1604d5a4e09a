package io.pyflow.config

import java.io.File
import java.nio.file.{Files, Path, Paths}

import org.apache.spark.SparkConf

/** Which Python executable an application embeds. Decided on the driver, for all executors. */
object EmbeddedPython {

  def executable(conf: SparkConf): String =
    PyFlowConf.PYTHON.in(conf).getOrElse(chosenBySpark(conf))

  /**
   * Why functions made for `executable` cannot run in the embedded Python, if they cannot. An
   * explicit spark.pyflow.python stands in for the executable that Spark would choose, not for one
   * that a session chose for itself.
   */
  def refusal(executable: String, conf: SparkConf): Option[String] = {
    val embedded = this.executable(conf)
    if (same(executable, embedded) || same(executable, chosenBySpark(conf))) {
      None
    } else {
      Some(
        s"its Python is $executable, the embedded one is $embedded (set ${PyFlowConf.PYTHON.key})")
    }
  }

  /**
   * The executable that the driver's functions name. A Python driver that started this JVM looks at its
   * environment only; spark-submit passes spark.pyspark.python on to the driver that it starts.
   */
  private def chosenBySpark(conf: SparkConf): String = {
    val startedByPython = sys.env.contains("_PYSPARK_DRIVER_CONN_INFO_PATH")
    val configured = if (startedByPython) None else conf.getOption("spark.pyspark.python")
    configured.orElse(sys.env.get("PYSPARK_PYTHON")).getOrElse("python3")
  }

  private def same(one: String, other: String): Boolean =
    one == other || located(one) == located(other)

  /** Not resolved further than PATH: the link in a virtual environment is what makes it one. */
  private def located(executable: String): Path = {
    val path = Paths.get(executable)
    val found =
      if (executable.contains(File.separator)) {
        Some(path)
      } else {
        val folders = sys.env.getOrElse("PATH", "").split(File.pathSeparator).iterator
        folders.map(Paths.get(_).resolve(executable)).find(Files.isExecutable(_))
      }
    found.getOrElse(path).toAbsolutePath.normalize
  }
}
