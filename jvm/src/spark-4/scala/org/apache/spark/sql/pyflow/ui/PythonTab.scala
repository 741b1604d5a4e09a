package org.apache.spark.sql.pyflow.ui

import com.codahale.metrics.MetricRegistry
import org.apache.spark.SparkContext
import org.apache.spark.internal.config.UI.UI_THREAD_DUMPS_ENABLED
import org.apache.spark.status.ElementTrackingStore
import org.apache.spark.ui.{SparkUI, SparkUITab}

/**
 * The tab "Python" of Spark's UI.
 *
 * @param stacks asks the executors of a running application for their frames
 */
class PythonTab(val store: PythonStore, val ui: SparkUI, val stacks: Option[() => String])
  extends SparkUITab(ui, "python") {
  attachPage(new PythonPage(this))
  attachPage(new PythonQueryPage(this))
  stacks.foreach(ask => attachPage(new PythonStacksPage(this, ask)))
  ui.attachTab(this)

  // Behind the SQL tab and Structured Streaming.
  override def displayOrder: Int = 3
}

object PythonTab {

  /**
   * Has a running application listen, and show what it hears where it has a UI.
   *
   * @param registry of the plugin on the driver
   * @param stacks the frames of all executors, as `pyflow stack` has them
   * @param queryEnded is called after a query with Python functions
   */
  def begin(
      sc: SparkContext,
      registry: MetricRegistry,
      stacks: () => String,
      queryEnded: () => Unit): Unit =
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
          val hasDumps = sc.conf.get(UI_THREAD_DUMPS_ENABLED)
          new PythonTab(new PythonStore(store), ui, Some(stacks).filter(_ => hasDumps))
          RestApi.extend(ui)
        }
      case _ =>
    }
}
