package org.apache.spark.sql.pyflow

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.ActiveJob

/**
 * Jobs that run after the end of their query, as those of PySpark's `toLocalIterator` do.
 *
 * The scheduler drops the jobs of a query when it ends. Of one that starts later it keeps the plan,
 * with the relations that were broadcast, for as long as the application lives.
 */
object EndedQueries {

  /** Drops the jobs of the queries that have a job with this tag. */
  def dropJobs(context: SparkContext, tag: String): Unit = {
    val scheduler = context.dagScheduler
    for ((execution, jobs) <- scheduler.activeQueryToJobs.asScala)
      if (jobs.asScala.exists(tags(_).contains(tag)))
        scheduler.cleanupQueryJobs(execution)
  }

  private def tags(job: ActiveJob): Array[String] =
    job.properties
      .getProperty(SparkContext.SPARK_JOB_TAGS, "")
      .split(SparkContext.SPARK_JOB_TAGS_SEP)
}
