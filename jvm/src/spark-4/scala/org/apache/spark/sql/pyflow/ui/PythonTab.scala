package org.apache.spark.sql.pyflow.ui

import com.codahale.metrics.MetricRegistry
import org.apache.spark.SparkContext
import org.apache.spark.status.ElementTrackingStore
import org.apache.spark.ui.{SparkUI, SparkUITab}

/** The tab "Python" of Spark's UI. */
class PythonTab(val store: PythonStore, val ui: SparkUI) extends SparkUITab(ui, "python") {
  attachPage(new PythonPage(this))
  attachPage(new PythonQueryPage(this))
  ui.attachTab(this)

  // Behind the SQL tab and Structured Streaming.
  override def displayOrder: Int = 3
}

object PythonTab {

  /**
   * Has a running application listen, and show what it hears where it has a UI.
   *
   * @param registry of the plugin on the driver
   * @param queryEnded is called after a query with Python functions
   */
  def begin(sc: SparkContext, registry: MetricRegistry, queryEnded: () => Unit): Unit =
    sc.statusStore.store match {
      case store: ElementTrackingStore =>
        val metrics = new PythonMetrics(registry)
        val observer = new PythonObserver {
          override def added(functions: String, totals: PythonTotals): Unit =
            metrics.add(functions, totals)
          override def ended(): Unit = queryEnded()
        }
        val listener = new PythonListener(sc.conf, store, Some(observer))
        sc.listenerBus.addToStatusQueue(listener)
        sc.ui.foreach { ui =>
          new PythonTab(new PythonStore(store), ui)
          RestApi.extend(ui)
        }
      case _ =>
    }
}
