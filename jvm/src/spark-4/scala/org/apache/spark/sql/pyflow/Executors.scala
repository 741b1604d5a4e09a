package org.apache.spark.sql.pyflow

import org.apache.spark.{SparkConf, SparkContext, SparkEnv}
import org.apache.spark.util.Utils

/** Facts about the executors of an application that Spark keeps to its own packages. */
object Executors {

  /** In local mode the driver is the only executor. */
  def isDriver(executorId: String): Boolean = executorId == SparkContext.DRIVER_IDENTIFIER

  /** Whether the driver's JVM is the only executor of an application. */
  def isLocal(conf: SparkConf): Boolean = Utils.isLocalMaster(conf)

  /** Where this executor is. */
  def host: String = SparkEnv.get.blockManager.blockManagerId.host

  /**
   * Whether an executor has registered and has not been removed since. The scheduler removes an
   * executor first and then starts its tasks elsewhere; listeners hear of it some time later.
   */
  def isRegistered(executorId: String): Boolean =
    SparkContext.getActive.exists(_.getExecutorIds().contains(executorId))
}
