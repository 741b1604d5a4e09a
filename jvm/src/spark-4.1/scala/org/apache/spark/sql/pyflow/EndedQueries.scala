package org.apache.spark.sql.pyflow

import scala.annotation.unused

import org.apache.spark.SparkContext

/** Jobs that run after the end of their query: the scheduler of Spark 4.1 keeps nothing of them. */
object EndedQueries {
  def dropJobs(@unused context: SparkContext, @unused tag: String): Unit = ()
}
