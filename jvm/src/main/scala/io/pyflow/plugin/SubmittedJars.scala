package io.pyflow.plugin

import org.apache.spark.SparkContext

/**
 * The jars that `spark-submit` found for the application, such as those of `spark.jars.packages`.
 *
 * PySpark starts it with the settings of the program and then sets `spark.jars` to what the program
 * has set, so that executors would not get the others.
 */
object SubmittedJars {
  def add(sc: SparkContext): Unit = {
    val present = sc.listJars().map(name).toSet
    val submitted = sys.props.getOrElse("spark.jars", "").split(',').map(_.trim).filter(_.nonEmpty)
    submitted.filterNot(jar => present(name(jar))).foreach(sc.addJar)
  }

  private def name(jar: String): String = jar.substring(jar.lastIndexOf('/') + 1)
}
