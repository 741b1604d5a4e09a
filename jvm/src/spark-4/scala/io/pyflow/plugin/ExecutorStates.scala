package io.pyflow.plugin

import java.util.concurrent.{ScheduledThreadPoolExecutor, TimeUnit}
import java.util.concurrent.atomic.AtomicBoolean

import org.slf4j.LoggerFactory

/**
 * Has executors tell what they have loaded, after queries with Python functions: at once after the
 * first of them, then once for all that end in some seconds.
 */
private[plugin] class ExecutorStates {
  import ExecutorStates._

  private val isDue = new AtomicBoolean
  private val thread = new ScheduledThreadPoolExecutor(
    1,
    (work: Runnable) => {
      val made = new Thread(work, "pyflow-states")
      made.setDaemon(true)
      made
    })

  @volatile private var last = System.nanoTime - TimeUnit.SECONDS.toNanos(IntervalSeconds)

  def queryEnded(): Unit = if (isDue.compareAndSet(false, true)) {
    val wait = last + TimeUnit.SECONDS.toNanos(IntervalSeconds) - System.nanoTime
    thread.schedule((() => tell()): Runnable, wait.max(0), TimeUnit.NANOSECONDS)
  }

  private def tell(): Unit = {
    last = System.nanoTime
    isDue.set(false)
    try PythonRequests.tellOfState()
    catch {
      case e: Exception => log.debug("Executors could not be asked", e)
    }
  }

  def close(): Unit = thread.shutdownNow()
}

private object ExecutorStates {
  private val log = LoggerFactory.getLogger(classOf[ExecutorStates])
  private val IntervalSeconds = 10L
}
