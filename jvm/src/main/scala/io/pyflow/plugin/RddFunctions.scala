package io.pyflow.plugin

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerStageSubmitted}
import org.slf4j.LoggerFactory

/** Logs once, on the driver, that functions of the RDD API stay in process mode. */
private class RddFunctions(sc: SparkContext) extends SparkListener {
  override def onStageSubmitted(submitted: SparkListenerStageSubmitted): Unit =
    if (submitted.stageInfo.rddInfos.exists(_.name == "PythonRDD")) {
      RddFunctions.log.info(
        "Functions of the RDD API run in process mode: their data is pickled where it rests, so " +
          "that thread mode has little to save. Functions of DataFrames run in thread mode.")
      sc.removeSparkListener(this)
    }
}

object RddFunctions {
  private val log = LoggerFactory.getLogger(classOf[RddFunctions])

  def watch(sc: SparkContext): Unit = sc.addSparkListener(new RddFunctions(sc))
}
