package io.pyflow.plugin

import org.apache.spark.SparkConf
import org.apache.spark.sql.internal.StaticSQLConf.SPARK_SESSION_EXTENSIONS

/** Has the sessions of an application take what PyFlow adds to their planning. */
object SessionExtensions {
  private val Name = "io.pyflow.plugin.PyFlowExtensions"

  def add(conf: SparkConf): Unit = {
    val present = conf.getOption(SPARK_SESSION_EXTENSIONS.key).toSeq.flatMap(_.split(","))
    if (!present.map(_.trim).contains(Name)) {
      conf.set(SPARK_SESSION_EXTENSIONS.key, (present :+ Name).mkString(","))
    }
  }
}
