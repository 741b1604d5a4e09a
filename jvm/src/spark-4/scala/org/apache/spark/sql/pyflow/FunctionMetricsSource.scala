package org.apache.spark.sql.pyflow

import scala.collection.mutable

import com.codahale.metrics.{Gauge, MetricRegistry}
import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.metrics.source.Source
import org.slf4j.LoggerFactory

/**
 * The metrics of Python functions in Spark's metrics system, as its source `PythonFunctions`: on an
 * executor over its own tasks, on the driver over all.
 */
object FunctionMetricsSource {
  private val log = LoggerFactory.getLogger(getClass)
  private var current = Option.empty[OfApplication]

  /** Adds what tasks report that have succeeded. */
  def add(metrics: FunctionMetric.ByName): Unit = synchronized {
    val env = SparkEnv.get
    val source = current.filter(_.env eq env).getOrElse {
      val made = new OfApplication(env)
      env.metricsSystem.registerSource(made)
      current = Some(made)
      made
    }
    metrics.foreach { case (name, metric) =>
      try source.add(name, metric)
      catch {
        case _: IllegalArgumentException =>
          log.warn(s"The Python functions' metric $name is there already, of another kind")
      }
    }
  }

  /** Adds on the driver what its executors have; in local mode it is the executor and has it. */
  def addOnDriver(metrics: FunctionMetric.ByName): Unit =
    if (!SparkContext.getActive.exists(_.isLocal)) {
      add(metrics)
    }

  /** Adds what workers have reported to the Python of the driver, which calls this. */
  def addJson(json: String): Unit = add(FunctionMetric.ofJson(json))

  /** A JVM may run one application after another. */
  private class OfApplication(val env: SparkEnv) extends Source {
    override val sourceName: String = "PythonFunctions"
    override val metricRegistry: MetricRegistry = new MetricRegistry

    private val distributions = mutable.Map.empty[String, Distributed]

    def add(name: String, metric: FunctionMetric): Unit = metric match {
      case Counted(count) => metricRegistry.counter(name).inc(count)
      case Marked(events) => metricRegistry.meter(name).mark(events)
      case Gauged(value) => show(name, value)
      case added: Distributed =>
        val all = distributions.get(name).fold(added)(_.and(added))
        distributions(name) = all
        all.parts.foreach { case (part, value) => show(s"$name.$part", value) }
    }

    private def show(name: String, value: Double): Unit =
      metricRegistry.gauge[Gauge[_]](name, () => new Shown) match {
        case shown: Shown => shown.value = value
        case _ => throw new IllegalArgumentException(name)
      }
  }

  private class Shown extends Gauge[Double] {
    @volatile var value = 0.0
    override def getValue: Double = value
  }
}
