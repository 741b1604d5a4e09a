package org.apache.spark.sql.pyflow.ui

import org.apache.spark.{SPARK_VERSION, SparkConf}
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.status.{AppHistoryServerPlugin, ElementTrackingStore}
import org.apache.spark.ui.SparkUI

import io.pyflow.config.SparkCompatibility

/** The tab in Spark's history server, which finds this class in the jar. */
private[spark] class PythonHistoryPlugin extends AppHistoryServerPlugin {
  override def createListeners(conf: SparkConf, store: ElementTrackingStore): Seq[SparkListener] =
    if (fits) Seq(new PythonListener(conf, store, None)) else Nil

  override def setupUI(ui: SparkUI): Unit = if (fits) {
    val store = new PythonStore(ui.store.store)
    if (!store.isEmpty) {
      new PythonTab(store, ui, None)
    }
  }

  override def displayOrder: Int = 3

  private def fits: Boolean = SparkCompatibility.check(SPARK_VERSION)
}
