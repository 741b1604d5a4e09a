package org.apache.spark.sql.pyflow

import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._

import org.apache.spark.SparkContext
import org.apache.spark.sql.classic.SparkSession

/** On whose behalf a query is planned, where one JVM serves several users. */
object SessionUser {

  /**
   * The user of the Spark Connect session that plans now; None if this JVM is no Connect server.
   * Empty if the client did not name one or the session is not among the server's.
   */
  def ofConnect: Option[String] =
    Option.when(ConnectSessions.areServed) {
      ConnectSessions.userOf(sessionId.toJava, jobTags.asJava).orElse("")
    }

  /** Who runs the application, and with it the Connect server. */
  def ofApplication: Option[String] = SparkContext.getActive.map(_.sparkUser)

  private def sessionId: Option[String] = SparkSession.getActiveSession.map(_.sessionUUID)

  /** A stream plans in a clone of its session, but with the tags of what has started it. */
  private def jobTags: Set[String] = SparkContext.getActive.toSet.flatMap[String](_.getJobTags())
}
