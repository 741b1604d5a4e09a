package io.pyflow.execution

import java.util.concurrent.{Future, ScheduledThreadPoolExecutor, TimeUnit}
import java.util.concurrent.atomic.AtomicBoolean

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.sql.pyflow.{PythonErrors, RunningTask, SessionLog}
import org.slf4j.LoggerFactory

import io.pyflow.bridge._
import io.pyflow.plugin.PyFlowConf

/**
 * The interpreter that one operator of a task holds. Stops the Python code in it when the task is
 * cancelled, or when a call takes longer than it may. One thread at a time enters Python; any may
 * interrupt.
 */
private[execution] class TaskSlot(
    context: TaskContext,
    val interpreter: Interpreter,
    timeoutMillis: Option[Long]) {
  import TaskSlot._

  private val slot = PythonSlot.acquire(interpreter)
  private var sessionLog = Option.empty[SessionLog]

  @volatile private var running = Option.empty[Call]
  @volatile private var expired = false
  @volatile private var closed = false
  private val interrupting = new AtomicBoolean

  // Called at once if the task is already cancelled.
  context.addTaskInterruptListener((_, _) => interrupt("its task was cancelled"))

  /** Opens the log of the slot's functions for a session; its number. */
  def openSessionLog(session: String): Long = {
    val opened = new SessionLog(session)
    sessionLog = Some(opened)
    opened.number
  }

  def load(specJson: Array[Byte]): PythonProgram = slot.load(specJson)

  def loadStream(specJson: Array[Byte], source: BatchSource): PythonStream =
    slot.loadStream(specJson, source)

  /**
   * Runs something that enters Python, as everything does that enters it: loading, evaluating,
   * collecting and closing. Until it returns, a cancelled task interrupts it, and so does the end
   * of its time.
   */
  def run[T](functions: String)(enterPython: => T): T = {
    val call = new Call(functions)
    running = Some(call)
    call.startClock()
    try enterPython
    catch {
      case raised: PythonFunctionException =>
        RunningTask.throwIfKilled(context)
        throwIfExpired(functions)
        throw PythonErrors.raisedByFunction(raised.getMessage)
    } finally {
      running = None
      call.stopClock()
    }
  }

  /** Runs what functions wait for: the time they may take does not pass, and then begins anew. */
  def waiting[T](work: => T): T = {
    val call = running
    call.foreach(_.stopClock())
    try work
    finally call.foreach(_.startClock())
  }

  /** Fails the task if Python was interrupted because its time was over. */
  def throwIfExpired(functions: String): Unit =
    if (expired) {
      throw new SparkException(expiry(functions))
    }

  private def expiry(functions: String): String =
    s"Python function $functions was interrupted: it had not returned after " +
      s"${timeoutMillis.mkString} ms (${PyFlowConf.PYTHON_TIMEOUT.key}). Raise the limit if " +
      "the function is meant to take that long."

  /** Ends a task whose Python code was interrupted, for the reason that it was. */
  def throwInterrupted(functions: String): Nothing = {
    RunningTask.throwIfKilled(context)
    throwIfExpired(functions)
    throw new SparkException(s"Python function $functions was interrupted")
  }

  def interrupt(): Unit = interrupt("its task ended")

  /**
   * Interrupts what runs, again and again until it has ended: Python code may catch the first
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
   * Closes functions, which may run Python code: what generators and context managers do at their
   * end.
   */
  def close(functions: String, loaded: LoadedFunctions): Unit =
    try {
      val wasExpired = expired
      run(functions)(loaded.close())
      if (expired && !wasExpired) {
        log.warn(s"${expiry(functions)} It was being closed (task $task).")
      }
    } finally close()

  def close(): Unit = {
    closed = true
    try slot.close()
    finally sessionLog.foreach(_.close())
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

  /** What runs now, and the time it may take. */
  private class Call(val functions: String) {
    private var expiry = Option.empty[Future[_]]

    def startClock(): Unit = synchronized {
      stopClock()
      expiry = timeoutMillis.map(timer.schedule(expire, _, TimeUnit.MILLISECONDS))
    }

    def stopClock(): Unit = synchronized {
      expiry.foreach(_.cancel(false))
      expiry = None
    }

    private def expire: Runnable = () =>
      if (running.exists(_ eq this)) {
        expired = true
        interrupt("its time was over")
      }
  }

  private def task: String =
    s"${context.partitionId()}.${context.attemptNumber()} in stage ${context.stageId()}." +
      s"${context.stageAttemptNumber()} (TID ${context.taskAttemptId()})"
}

private[execution] object TaskSlot {
  private val log = LoggerFactory.getLogger(classOf[TaskSlot])
  private val IntervalMillis = 100L
  private val PatienceSeconds = 2L

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
