package org.apache.spark.sql.pyflow

import org.apache.spark.SparkConf
import org.apache.spark.internal.config.{ConfigBuilder, ConfigEntry}
import org.apache.spark.sql.internal.SQLConf

/**
 * A setting that Spark's session configuration knows and checks.
 *
 * @param values the valid values, for the reference in the documentation
 * @param perSession whether a session can set it; else it is the application's
 */
class Setting[T] private (entry: ConfigEntry[T], val values: String, val perSession: Boolean) {
  def key: String = entry.key

  def doc: String = entry.doc

  def version: String = entry.version

  /** Empty if there is none. */
  def default: String = if (entry.defaultValue.isEmpty) "" else entry.defaultValueString

  def in(conf: SQLConf): T = conf.getConf(entry)

  /** The value for the whole application; an invalid one is an error that says what is valid. */
  def in(conf: SparkConf): T = conf.get(entry)
}

object Setting {

  /** Whether a setting of Spark's that only some versions have is on. */
  def isOn(conf: SQLConf, key: String): Boolean =
    SQLConf.containsConfigKey(key) && conf.getConfString(key).toBoolean

  def perSession[T](key: String, doc: String, values: String, version: String)(
      define: ConfigBuilder => ConfigEntry[T]): Setting[T] =
    new Setting(define(SQLConf.buildConf(key).doc(doc).version(version)), values, true)

  def perApplication[T](key: String, doc: String, values: String, version: String)(
      define: ConfigBuilder => ConfigEntry[T]): Setting[T] =
    new Setting(define(SQLConf.buildStaticConf(key).doc(doc).version(version)), values, false)
}
