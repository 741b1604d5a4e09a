package io.pyflow.execution.state

import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.{FunctionMetrics, StateRows}
import org.apache.spark.sql.streaming.{ExpiredTimerInfo, OutputMode, StatefulProcessorWithInitialState, TimeMode, TimerValues}
import org.apache.spark.sql.types.{ArrayType, StructType}

import io.pyflow.admission.{FunctionAdmission, FunctionIdentity}
import io.pyflow.bridge.JvmFunction
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.ThreadModeExec
import io.pyflow.execution.expressions.EmbeddedEvaluation
import io.pyflow.execution.rows.BatchEnds
import io.pyflow.execution.task.RowFunctions
import io.pyflow.spec.{ProgramSpec, StatefulFunction}

/**
 * A user's processor in Python, as a processor of the JVM. Spark's operator calls it in a task, for
 * each group of rows, for each row of the initial state and for each timer; keys and rows are
 * UnsafeRows, what it returns are rows of the output.
 *
 * @param rowProjection, initialProjection from rows of the operator's children to what Python gets
 * @param batchTime of the batch, in milliseconds, if timers have one
 * @param bundlesKeys whether Python gets the rows of many keys in a call, among them those of
 *   [[ControlRowsExec]], the last of which ends the last call
 * @param otherwise what becomes of the query where a task may not run the processor, a sentence
 */
class PythonStatefulProcessor(
    spec: ProgramSpec,
    keySchema: StructType,
    identities: Seq[FunctionIdentity],
    settings: ThreadModeSettings,
    metrics: FunctionMetrics,
    measured: ProcessorMetrics,
    outputSchema: StructType,
    rowProjection: Seq[Expression],
    initialProjection: Seq[Expression],
    batchTime: Option[Long],
    bundlesKeys: Boolean,
    otherwise: String)
  extends StatefulProcessorWithInitialState[Any, Any, Any, Any] {
  import PythonStatefulProcessor._

  // Set in a task only, after the processor has been sent there.
  private var running = Option.empty[Running]

  /** Which interpreter it runs in, as far as the driver knows. */
  def interpreter: String = ThreadModeExec.interpreter(settings, spec.commandsDigest)

  override def toString: String =
    s"(Python in thread mode, function: ${spec.functionNames}, interpreter: $interpreter)"

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    val opened = FunctionAdmission.evaluateHere(spec, identities, settings, otherwise) { context =>
      val made = new Running(context)
      made.load()
      made
    }
    running = Some(opened)
    opened.call(StatefulFunction.Init)
  }

  override def handleInputRows(
      key: Any,
      rows: Iterator[Any],
      timerValues: TimerValues): Iterator[Any] =
    inTask { running =>
      val ofKey = key.asInstanceOf[UnsafeRow]
      if (bundlesKeys) running.ofRowsOfKeys(ofKey, rows, timerValues)
      else running.ofRows(ofKey, rows, timerValues)
    }

  override def handleInitialState(key: Any, row: Any, timerValues: TimerValues): Unit =
    inTask {
      _.ofInitialState(key.asInstanceOf[UnsafeRow], row.asInstanceOf[InternalRow], timerValues)
    }

  override def handleExpiredTimer(
      key: Any,
      timerValues: TimerValues,
      expired: ExpiredTimerInfo): Iterator[Any] = inTask {
    _.call(
      StatefulFunction.Timer,
      key.asInstanceOf[UnsafeRow],
      Iterator.empty,
      timerValues.getCurrentProcessingTimeInMs(),
      expired.getExpiryTimeInMs())
  }

  /** Spark may do it twice. */
  override def close(): Unit = {
    val closing = running
    running = None
    closing.foreach(_.call(StatefulFunction.Close))
  }

  private def inTask[T](work: Running => T): T =
    work(running.getOrElse(throw new IllegalStateException("the processor is not initialized")))

  /** The user's object in a task. */
  private class Running(context: TaskContext) {
    private val access = new StateAccess(
      getHandle,
      keySchema.length,
      SQLConf.get.arrowTransformWithStateInPySparkMaxStateRecordsPerBatch,
      batchTime)
    private val thread = Thread.currentThread
    private var key: UnsafeRow = _
    private var rows: Iterator[UnsafeRow] = Iterator.empty
    private var failure = Option.empty[Throwable]

    // Of a bundle that Python has not been called for yet.
    private val waiting = mutable.ArrayBuffer.empty[UnsafeRow]
    private var waitingBytes = 0L

    private val toPython = UnsafeProjection.create(StatefulFunction.input(keySchema))
    private val toRow = UnsafeProjection.create(rowProjection)
    private lazy val toInitial = UnsafeProjection.create(initialProjection)

    private val functions = {
      val function: JvmFunction = (code, argument) => synchronized(answer(code, argument))
      new RowFunctions(spec, settings, context, measured.add(_, _), Some(metrics), Some(function))
    }
    private val python =
      new EmbeddedEvaluation(functions, BatchEnds.every(1), Seq(ArrayType(outputSchema)), context)

    /** Loads the processor, where an interpreter may refuse it. */
    def load(): Unit = if (spec.mayBeRefused) python.openNow()

    def ofRows(key: UnsafeRow, group: Iterator[Any], times: TimerValues): Iterator[Any] =
      call(StatefulFunction.Rows, key, copied(group), times.getCurrentProcessingTimeInMs())

    /**
     * Adds the rows of a key to the bundle. Python is called where it is full, and then takes the rest
     * of the key, too.
     */
    def ofRowsOfKeys(key: UnsafeRow, group: Iterator[Any], times: TimerValues): Iterator[Any] = {
      val rows = copied(group)
      def isFull = waiting.length >= Rows || waitingBytes >= Bytes
      while (!isFull && rows.hasNext) {
        val row = rows.next()
        waitingBytes += row.getSizeInBytes
        waiting += row
      }
      if (isFull || key.getInt(0) == ControlRowsExec.Last) {
        val bundle = waiting.toArray
        waiting.clear()
        waitingBytes = 0
        val time = times.getCurrentProcessingTimeInMs()
        call(StatefulFunction.RowsOfKeys, None.orNull, bundle.iterator ++ rows, time)
      } else {
        Iterator.empty
      }
    }

    /** Of a row whose first column says what it is for. */
    private def isRecord(row: UnsafeRow): Boolean = {
      val target = row.getInt(0)
      target != ControlRowsExec.First && target != ControlRowsExec.Last
    }

    private def copied(group: Iterator[Any]): Iterator[UnsafeRow] =
      group.map(row => toRow(row.asInstanceOf[InternalRow]).copy())

    def ofInitialState(key: UnsafeRow, row: InternalRow, times: TimerValues): Unit = call(
      StatefulFunction.InitialState,
      key,
      Iterator.single(toInitial(row).copy()),
      times.getCurrentProcessingTimeInMs())

    /** Calls Python; the rows it makes lie in memory of their own. */
    def call(
        operation: Int,
        ofKey: UnsafeRow = None.orNull,
        group: Iterator[UnsafeRow] = Iterator.empty,
        processingTime: Long = -1,
        expiry: Long = -1): Iterator[Any] = {
      key = ofKey
      rows = group
      access.beginKey()
      try python.evaluate(toPython(InternalRow(operation, ofKey, processingTime, expiry)))
      catch {
        case _: Throwable if failure.isDefined => throw failure.get
      }
      // Python may have caught what became of it.
      failure.foreach(throw _)
      if (python.results.isNullAt(0)) {
        Iterator.empty
      } else {
        val made = python.results.getArray(0)
        measured.outputRows.add(made.numElements())
        Iterator.tabulate(made.numElements())(made.getStruct(_, outputSchema.length))
      }
    }

    private def answer(code: Int, argument: Array[Byte]): Array[Byte] =
      if (code == StateAccess.NextRows) {
        nextRows()
      } else if (code == KeyedState.SetKey) {
        setKey(argument)
      } else if (code == StateAccess.LateRows) {
        measured.lateRows.add(StateAccess.number(argument))
        None.orNull
      } else if (Thread.currentThread eq thread) {
        access.answer(code, argument)
      } else {
        withKey(access.answer(code, argument))
      }

    /** Makes another key the current one, until the processor is called for the next. */
    private def setKey(row: Array[Byte]): Array[Byte] = {
      key = RowBytes.row(row, keySchema.length)
      access.beginKey()
      if (Thread.currentThread eq thread) StateRows.setKey(key)
      None.orNull
    }

    /** Spark's key is that of its own thread. */
    private def withKey[T](work: => T): T = Option(key).fold(work) { current =>
      StateRows.setKey(current)
      try work
      finally StateRows.removeKey()
    }

    /** Some rows of the group, after a number that is 0 where these are the last. */
    private def nextRows(): Array[Byte] =
      try {
        val taken = mutable.ArrayBuffer.empty[UnsafeRow]
        var size = 0L
        while (taken.length < Rows && size < Bytes && rows.hasNext) {
          val row = rows.next()
          size += row.getSizeInBytes
          taken += row
        }
        measured.inputRows.add(if (bundlesKeys) taken.count(isRecord) else taken.length)
        val answer = RowBytes.of(taken, java.lang.Long.BYTES)
        RowBytes.littleEndian(answer).putLong(if (rows.hasNext) 1 else 0)
        answer
      } catch {
        case error: Throwable =>
          failure = Some(error)
          throw error
      } finally {
        // The child may have processors of its own, which set and remove the key of this thread.
        if ((Thread.currentThread eq thread) && Option(key).isDefined) {
          StateRows.setKey(key)
        }
      }
  }
}

object PythonStatefulProcessor {

  /** What becomes of a query where a task may not run its processor. */
  val StartedAgain: String =
    "It keeps state, and the operator runs in thread mode: the query goes to process mode when it " +
      "is started again."

  /** How many rows Python gets at a time. */
  private val Rows = 1024
  private val Bytes = 1L << 20
}
