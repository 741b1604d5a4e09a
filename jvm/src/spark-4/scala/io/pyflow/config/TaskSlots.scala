package io.pyflow.config

import org.apache.spark.SparkConf

/** How many tasks run at once. */
object TaskSlots {
  private val LocalThreads = """local\[(\d+)(?:,.*)?\]""".r
  private val LocalCluster = """local-cluster\[\s*\d+\s*,\s*(\d+)\s*,.*\]""".r

  /** In an executor, by the configuration of its application. */
  def in(conf: SparkConf): Int = {
    val processors = Runtime.getRuntime.availableProcessors
    val cores = conf.get("spark.master", "") match {
      case "local" => 1
      case LocalThreads(threads) => threads.toInt
      case LocalCluster(perWorker) => perWorker.toInt
      case _ => conf.getInt("spark.executor.cores", processors)
    }
    (cores / conf.getDouble("spark.task.cpus", 1.0)).toInt.max(1)
  }
}
