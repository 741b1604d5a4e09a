package io.pyflow.plugin

import java.util.{Map => JavaMap}

import scala.jdk.CollectionConverters._

import com.codahale.metrics.Gauge
import org.apache.spark.{SparkConf, SparkContext, TaskContext}
import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.sql.pyflow.{CheckpointFiles, Executors, RunningTask}
import org.apache.spark.sql.pyflow.ui.PythonTab
import org.slf4j.LoggerFactory

import io.pyflow.admission.{ContentionMeter, DriverConnection, PythonStart, SharedOnlyFunctions}
import io.pyflow.bridge.{LentMemory, PythonRuntime}
import io.pyflow.config.{EmbeddedPython, PyFlowConf, TaskSlots}

/** Sets up a driver and its executors when they start, on the Spark that the jar was built for. */
object ThreadModeSetup {
  private val log = LoggerFactory.getLogger(getClass)

  private val EndWaitMillis = 1000L
  private val MemoryGauge = "pythonMemory"
  private val LentMemoryGauge = "memoryLentToPython"
  private val InterpretersGauge = "isolatedInterpreters"
  private val PythonKey = "python"
  private val HashSeedKey = "PYTHONHASHSEED"
  private val ExecutorOptions = "spark.executor.extraJavaOptions"

  private val OverheadFactor = "spark.executor.memoryOverheadFactor"

  /** Spark's own factor for Python applications on Kubernetes. */
  private val PythonsShare = "0.4"

  /** If one of these is set, it is left as it is. */
  private val MemoryOptions = Seq(
    OverheadFactor,
    "spark.executor.memoryOverhead",
    "spark.executor.minMemoryOverhead",
    "spark.executor.pyspark.memory",
    "spark.kubernetes.memoryOverheadFactor")

  /** Enough for Python functions on all versions, deep recursion too. */
  private val StackSize = "-Xss8m"

  /** Prepares the application's configuration; returns what every executor needs to know. */
  def onDriver(conf: SparkConf): JavaMap[String, String] = {
    Preloading.begin()
    PyFlowConf.settings.foreach(_.in(conf))
    SessionExtensions.add(conf)
    CheckpointFiles.use(conf)
    giveExecutorsStack(conf)
    giveExecutorsMemory(conf)
    Map(
      PythonKey -> EmbeddedPython.executable(conf),
      // As PySpark sets it for its workers, so that strings hash alike everywhere.
      HashSeedKey -> sys.env.getOrElse(HashSeedKey, "0")).asJava
  }

  /** Shows what becomes of functions in Spark's UI and among the driver's metrics. */
  def showInUi(sc: SparkContext, context: PluginContext): Unit =
    if (PyFlowConf.UI_ENABLED.in(sc.getConf)) {
      val states = new ExecutorStates
      PythonTab.begin(
        sc,
        context.metricRegistry,
        () => PythonRequests.stacksOfAllExecutors,
        () => states.queryEnded())
    }

  /**
   * Connects the executor to the driver, and starts Python and its interpreters in the background,
   * ahead of the first query; in the driver itself, when the first plan has functions.
   */
  def onExecutor(context: PluginContext, fromDriver: JavaMap[String, String]): Unit = {
    val conf = context.conf
    val memory: Gauge[Long] = () => PythonRuntime.memoryBytes
    context.metricRegistry.register(MemoryGauge, memory)
    val lent: Gauge[Long] = () => LentMemory.bytesOfAllTasks
    context.metricRegistry.register(LentMemoryGauge, lent)
    val interpreters: Gauge[Int] = () => PythonRuntime.isolatedInterpreters
    context.metricRegistry.register(InterpretersGauge, interpreters)
    SharedOnlyFunctions.clear()
    ContentionMeter.clear()
    if (!Executors.isDriver(context.executorID)) {
      DriverConnection.open(context)
    }
    PythonRequests.serve(context)
    if (PyFlowConf.EXECUTION_MODE.in(conf) != PyFlowConf.ProcessMode) {
      val start: Runnable = () =>
        PythonStart.inBackground(
          fromDriver.get(PythonKey),
          Map(HashSeedKey -> fromDriver.get(HashSeedKey)),
          PyFlowConf.INTERPRETER.in(conf),
          TaskSlots.in(conf))
      if (Executors.isDriver(context.executorID)) PythonStart.defer(start) else start.run()
    }
  }

  /** Tells functions about the task, in whichever mode they run. */
  def onTaskStart(): Unit = RunningTask.tellSubtasks(TaskContext.get())

  /**
   * Drops all that Python keeps for the application, if the JVM is the driver's, which may run another
   * application. Other executors end now. Where Python is busy for more than a second, it does so
   * later.
   */
  def onExecutorEnd(context: PluginContext): Unit = if (Executors.isDriver(context.executorID)) {
    val application = context.conf.getAppId
    val thread = new Thread(() => PythonRuntime.endApplication(application), "pyflow-end")
    thread.setDaemon(true)
    thread.start()
    thread.join(EndWaitMillis)
  }

  /** Executors are launched after plugins have started, with the options found here. */
  private def giveExecutorsStack(conf: SparkConf): Unit = {
    val options = conf.get(ExecutorOptions, "")
    if (!options.contains("-Xss") && !options.contains("ThreadStackSize")) {
      conf.set(ExecutorOptions, s"$options $StackSize".trim)
    }
  }

  /**
   * Python's objects are in the executors' overhead. Cluster managers take the factor from the
   * configuration when they make the containers.
   */
  private def giveExecutorsMemory(conf: SparkConf): Unit = {
    val inThread = PyFlowConf.EXECUTION_MODE.in(conf) != PyFlowConf.ProcessMode
    if (inThread && !MemoryOptions.exists(conf.contains)) {
      log.info("{}={}: room for Python in the executors", OverheadFactor: Any, PythonsShare: Any)
      conf.set(OverheadFactor, PythonsShare)
    }
  }
}
