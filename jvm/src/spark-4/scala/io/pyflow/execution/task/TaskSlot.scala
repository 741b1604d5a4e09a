package io.pyflow.execution.task

import java.util.concurrent.{ConcurrentHashMap, Future, ScheduledThreadPoolExecutor, TimeUnit}
import java.util.concurrent.atomic.AtomicBoolean

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.pyflow.{PythonErrors, RunningTask}
import org.slf4j.LoggerFactory

import io.pyflow.bridge.{BatchSource, InterpreterKind, JvmFunction, LoadedFunctions, PythonBatches, PythonFunctionException, PythonProgram, PythonRuntime}
import io.pyflow.config.{IdleTimeout, PyFlowConf, ThreadModeSettings}

/**
 * The interpreter that one operator of a task holds. Stops the Python code in it when the task is
 * cancelled, when a call takes longer than it may, or when it neither takes nor returns data for too
 * long. One thread at a time enters Python; any may interrupt.
 */
private[execution] class TaskSlot(
    context: TaskContext,
    asked: InterpreterKind,
    settings: ThreadModeSettings) {
  import TaskSlot._

  private val slot = InterpreterLease.of(context, asked, settings)

  val interpreter: InterpreterKind = slot.interpreter

  private var sessionLog = Option.empty[SessionLog]

  @volatile private var running = Option.empty[Call]

  /** The thread that does in the JVM what functions wait for. */
  @volatile private var answering = Option.empty[Thread]

  /** The error for a limit that has passed: Python is interrupted, although its task goes on. */
  @volatile private var expired = Option.empty[() => SparkException]
  @volatile private var closed = false

  /** Whether a call ends after some time; if not, it needs no timer. */
  private val isLimited =
    settings.pythonTimeoutMillis.isDefined || settings.idleTimeout.isDefined
  private val interrupting = new AtomicBoolean

  open.add(this)
  try RunningTask.onCancellation(context)(interrupt("its task was cancelled"))
  catch {
    case e: Throwable =>
      close()
      throw e
  }

  /** The call of Python that the slot is in now. */
  private def call: Option[RunningCall] =
    running.map(call => RunningCall(slot.runningThread(), task, call.functions, answering))

  /** Opens the log of the slot's functions for a session; its number. */
  def openSessionLog(session: String): Long = {
    val opened = new SessionLog(session)
    sessionLog = Some(opened)
    opened.number
  }

  def load(specJson: Array[Byte], function: JvmFunction): PythonProgram =
    slot.load(specJson, function)

  def loadBatches(
      specJson: Array[Byte],
      source: BatchSource,
      function: JvmFunction): PythonBatches =
    slot.loadBatches(specJson, source, function)

  /** The same function, whose time is not that of the functions which call it. */
  def waitingFor(function: JvmFunction): JvmFunction =
    (code, argument) => waiting(RunningTask.in(context)(function.call(code, argument)))

  /**
   * Runs something that enters Python, as everything does that enters it: loading, evaluating,
   * collecting and closing. Until it returns, a cancelled task interrupts it, and so does the end
   * of its time. After that nothing runs any more but closing, even if a function has caught the
   * interruption and returned.
   */
  def run[T](functions: String)(enterPython: => T): T = {
    throwIfExpired()
    enter(functions)(enterPython)
  }

  private def enter[T](functions: String)(enterPython: => T): T = {
    val call = new Call(functions)
    running = Some(call)
    call.startClock()
    try enterPython
    catch {
      case raised: PythonFunctionException =>
        RunningTask.throwIfKilled(context)
        throwIfExpired()
        throw PythonErrors.raisedByFunction(raised.getMessage)
    } finally {
      running = None
      answering = None
      call.end()
    }
  }

  /** Runs what functions wait for: the time they may take does not pass, and then begins anew. */
  def waiting[T](work: => T): T = {
    val call = running
    call.foreach(_.stopClock())
    val before = answering
    answering = Some(Thread.currentThread)
    try work
    finally {
      answering = before
      call.foreach(_.startClock())
    }
  }

  /** Fails the task if Python was interrupted because its time was over. */
  private def throwIfExpired(): Unit = expired.foreach(error => throw error())

  /** Ends a task whose Python code was interrupted, for the reason that it was. */
  def throwInterrupted(functions: String): Nothing = {
    RunningTask.throwIfKilled(context)
    throwIfExpired()
    throw new SparkException(s"Python function $functions was interrupted")
  }

  def interrupt(): Unit = interrupt("its task ended")

  /**
   * Interrupts the Python code that runs, again and again until it has ended: it may catch the first
   * attempts. Returns at once; the attempts are made by a thread of their own, because each waits
   * for the GIL, which C code may hold for long.
   */
  private def interrupt(reason: String): Unit =
    if (interrupting.compareAndSet(false, true)) {
      running.foreach(warnIfNotEnded(_, reason))
      val thread = new Thread(() => interruptUntilClosed(), s"pyflow-cancel-$task")
      thread.setDaemon(true)
      thread.start()
    }

  /**
   * Closes functions, which may run Python code: generators and context managers may run some at
   * their end.
   */
  def close(functions: String, loaded: LoadedFunctions): Unit =
    try {
      val expiredBefore = expired.isDefined
      enter(functions)(loaded.close())
      if (!expiredBefore) {
        expired.foreach { error =>
          log.warn(
            s"Python function $functions was interrupted while it was being closed (task $task): " +
              error().getMessage)
        }
      }
    } finally close()

  def close(): Unit = {
    closed = true
    open.remove(this)
    try slot.close()
    finally sessionLog.foreach(_.close())
    trimMemoryLater()
  }

  private def interruptUntilClosed(): Unit = while (!closed) {
    if (running.isDefined) {
      slot.interrupt()
    }
    Thread.sleep(IntervalMillis)
  }

  private def warnIfNotEnded(call: Call, reason: String): Unit = {
    val warn: Runnable = () =>
      if (running.exists(_ eq call)) {
        log.warn(
          s"Python function ${call.functions} has not ended $PatienceSeconds s after $reason " +
            s"(task $task): it is inside C code that cannot be interrupted, or it catches every " +
            "exception. The task ends when the function returns.")
      }
    timer.schedule(warn, PatienceSeconds, TimeUnit.SECONDS)
  }

  /** A call into Python, and the time that it may take. */
  private class Call(val functions: String) {
    private var clocks = Seq.empty[Future[_]]
    private var ended = false

    /** A thread of the functions may still wait for the JVM: it starts no clock any more. */
    def end(): Unit = synchronized {
      ended = true
      stopClock()
    }

    def startClock(): Unit = if (isLimited) start()

    def stopClock(): Unit = if (isLimited) stop()

    private def start(): Unit = synchronized {
      stop()
      if (!ended) schedule()
    }

    private def schedule(): Unit = {
      val timeout = settings.pythonTimeoutMillis.map { millis =>
        timer.schedule(timedOut(millis), millis, TimeUnit.MILLISECONDS)
      }
      val idleTimeout = settings.idleTimeout.map { limit =>
        timer.scheduleAtFixedRate(idle(limit), limit.seconds, limit.seconds, TimeUnit.SECONDS)
      }
      clocks = timeout.toSeq ++ idleTimeout
    }

    private def stop(): Unit = synchronized {
      clocks.foreach(_.cancel(false))
      clocks = Nil
    }

    private def timedOut(millis: Long): Runnable = () =>
      expire {
        new SparkException(
          s"Python function $functions was interrupted: it had not returned after " +
            s"$millis ms (${PyFlowConf.PYTHON_TIMEOUT.key}). Raise the limit if " +
            "the function is meant to take that long.")
      }

    private def idle(limit: IdleTimeout): Runnable = () =>
      if (running.exists(_ eq this)) {
        log.warn(
          s"Idle timeout reached for Python function $functions (timeout: ${limit.seconds} " +
            s"seconds). No data taken or returned by the function (task $task)")
        if (limit.kills) {
          expire(PythonErrors.idle(limit.seconds))
        }
      }

    private def expire(error: => SparkException): Unit =
      if (running.exists(_ eq this)) {
        expired = expired.orElse(Some(() => error))
        interrupt("its time was over")
      }
  }

  private def task: String =
    s"${context.partitionId()}.${context.attemptNumber()} in stage ${context.stageId()}." +
      s"${context.stageAttemptNumber()} (TID ${context.taskAttemptId()})"
}

/**
 * A call of Python by a task.
 *
 * @param thread the address of its thread state; 0 as long as it waits for its GIL
 * @param answering the thread that does in the JVM what the functions wait for
 */
private[task] case class RunningCall(
    thread: Long,
    task: String,
    functions: String,
    answering: Option[Thread])

private[execution] object TaskSlot {
  private val log = LoggerFactory.getLogger(classOf[TaskSlot])
  private val IntervalMillis = 100L
  private val PatienceSeconds = 2L

  private val TrimSeconds = 60L
  private val willTrim = new AtomicBoolean

  private val open = ConcurrentHashMap.newKeySet[TaskSlot]

  /** Those of all tasks in this JVM. */
  private[task] def calls: Seq[RunningCall] = open.asScala.toSeq.flatMap(_.call)

  /** What tasks have freed goes back to the operating system, once for all that end in a minute. */
  private def trimMemoryLater(): Unit =
    if (willTrim.compareAndSet(false, true)) {
      val trim: Runnable = () => {
        willTrim.set(false)
        PythonRuntime.trimMemory()
      }
      timer.schedule(trim, TrimSeconds, TimeUnit.SECONDS)
    }

  private lazy val timer = {
    val executor = new ScheduledThreadPoolExecutor(1, daemon(_))
    executor.setRemoveOnCancelPolicy(true)
    executor
  }

  private def daemon(work: Runnable): Thread = {
    val thread = new Thread(work, "pyflow-timer")
    thread.setDaemon(true)
    thread
  }
}
