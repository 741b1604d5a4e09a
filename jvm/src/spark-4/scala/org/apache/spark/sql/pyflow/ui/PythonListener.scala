package org.apache.spark.sql.pyflow.ui

import scala.collection.mutable
import scala.util.Try

import org.apache.spark.SparkConf
import org.apache.spark.internal.config.Status.LIVE_ENTITY_UPDATE_PERIOD
import org.apache.spark.scheduler._
import org.apache.spark.sql.execution.SparkPlanInfo
import org.apache.spark.sql.execution.ui._
import org.apache.spark.sql.internal.StaticSQLConf.UI_RETAINED_EXECUTIONS
import org.apache.spark.status.{ElementTrackingStore, KVUtils, LiveEntity}

/**
 * Keeps what becomes of Python functions in the application's store, from the events that Spark has
 * anyway: plans tell which operators have functions, the ends of tasks and heartbeats what their
 * metrics are.
 *
 * @param observer of an application that runs; without one an event log is read
 */
class PythonListener(conf: SparkConf, store: ElementTrackingStore, observer: Option[PythonObserver])
  extends SparkListener {
  import PythonListener._

  private val live = observer.isDefined
  private val queries = mutable.LongMap.empty[LiveQuery]
  private val functions = new mutable.LinkedHashMap[String, LiveFunctions]
  private val executors = mutable.Map.empty[String, LiveExecutor]

  /** Whose tasks may still come: of streams and RDDs they run after the query that has planned them. */
  private val ended = mutable.Queue.empty[LiveQuery]

  /** By the numbers of their metrics. */
  private val operators = mutable.LongMap.empty[(LiveOperator, Measure)]

  /** What running tasks have reported. */
  private val reported = mutable.LongMap.empty[mutable.LongMap[Long]]

  /** What the store does not have yet. */
  private val changed = mutable.LinkedHashSet.empty[LiveEntity]
  private val period = conf.get(LIVE_ENTITY_UPDATE_PERIOD)
  private var lastWrite = 0L
  private var moves = 0L

  store.addTrigger(classOf[PythonQueryData], conf.get(UI_RETAINED_EXECUTIONS).toLong) { count =>
    val ended = store.view(classOf[PythonQueryData]).index("completed").first(1L)
    val surplus = (count - conf.get(UI_RETAINED_EXECUTIONS)).toInt.max(0)
    KVUtils.viewToSeq(ended, surplus)(_ => true).foreach { query =>
      store.delete(classOf[PythonQueryData], query.id)
    }
  }

  store.addTrigger(classOf[PythonMoveData], RetainedMoves) { count =>
    val oldest = KVUtils.viewToSeq(store.view(classOf[PythonMoveData]))
    oldest.take((count - RetainedMoves).toInt.max(0)).foreach { move =>
      store.delete(classOf[PythonMoveData], move.number)
    }
  }

  store.onFlush(writeChanged())

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case start: SparkListenerSQLExecutionStart =>
      val query = new LiveQuery(start.executionId, start.description, start.time)
      plan(query, start.sparkPlanInfo)
    case update: SparkListenerSQLAdaptiveExecutionUpdate =>
      queries.get(update.executionId).foreach(plan(_, update.sparkPlanInfo))
    case end: SparkListenerSQLExecutionEnd =>
      queries.remove(end.executionId).foreach(this.end(_, end))
    case found: PythonDependenciesFound =>
      ended.find(_.id == found.query).foreach { query =>
        query.dependencies = found.dependencies
        changed += query
        writeChanged()
      }
    case moved: PythonFunctionsMoved =>
      store.write(new PythonMoveData(moves, moved.time, moved.functions, moved.reason), true)
      moves += 1
    case state: PythonExecutorState =>
      val executor = executors.getOrElseUpdate(state.executor, new LiveExecutor(state.executor))
      executor.state = state
      changed += executor
      writeIfDue()
    case _ =>
  }

  override def onTaskEnd(end: SparkListenerTaskEnd): Unit = if (operators.nonEmpty) {
    val info = end.taskInfo
    // As Spark's listener of the SQL tab has it: the event log has no task metrics of this kind, and
    // the other may not be complete yet in a running application.
    val updates =
      if (live && end.taskMetrics != null) {
        end.taskMetrics.withExternalAccums(_.toSeq.map(_.toInfoUpdate))
      } else {
        info.accumulables.toSeq
      }
    add(info.taskId, info.executorId, info.host, info.finishTime, updates)
    reported.remove(info.taskId)
    writeIfDue()
  }

  override def onExecutorMetricsUpdate(update: SparkListenerExecutorMetricsUpdate): Unit =
    if (operators.nonEmpty) {
      val now = System.currentTimeMillis
      update.accumUpdates.foreach { case (task, _, _, updates) =>
        add(task, update.execId, "", now, updates)
      }
      writeIfDue()
    }

  private def plan(query: LiveQuery, info: SparkPlanInfo): Unit = {
    val planned = PlannedFunctions.in(info)
    if (planned.nonEmpty) {
      val isNew = !queries.contains(query.id)
      queries.update(query.id, query)
      // Adaptive execution may have made others of those that have not run.
      val kept = query.operators.filter { each =>
        each.totals != PythonTotals() || planned.exists(_.id == each.planned.id)
      }
      val added = planned.filterNot(each => kept.exists(_.planned.id == each.id)).map { each =>
        val operator = new LiveOperator(each, ofNames(each.functions), query)
        each.measures.foreach { case (id, measure) => operators.update(id, (operator, measure)) }
        operator
      }
      query.operators = kept ++ added
      added.foreach { operator =>
        operator.functions.see(operator.planned, query.id)
        changed += operator.functions
      }
      changed += query
      if (isNew) writeChanged() else writeIfDue()
    }
  }

  private def ofNames(names: Seq[String]): LiveFunctions = {
    val key = names.mkString(", ")
    val found = functions.remove(key).getOrElse(new LiveFunctions(key, names))
    functions.update(key, found)
    if (functions.size > RetainedFunctions) {
      val (oldest, dropped) = functions.head
      functions.remove(oldest)
      changed -= dropped
      if (dropped.lastWriteTime >= 0) store.delete(classOf[PythonFunctionData], oldest)
    }
    found
  }

  private def end(query: LiveQuery, end: SparkListenerSQLExecutionEnd): Unit = {
    query.completed = end.time
    query.error = end.errorMessage.getOrElse("")
    ended.enqueue(query)
    if (ended.size > MostEnded) {
      ended.dequeue().operators.flatMap(_.planned.measures.keys).foreach(operators.remove)
    }
    changed += query
    writeChanged()
    observer.foreach { observer =>
      tellOfDependencies(end)
      observer.ended()
    }
  }

  /** For the event log, too, which has no plans but their strings. */
  private def tellOfDependencies(end: SparkListenerSQLExecutionEnd): Unit = {
    val found = Try(end.qe.analyzed).map(DependenciesOfPlan.in).getOrElse(Nil)
    if (found.nonEmpty) PythonEvents.post(PythonDependenciesFound(end.executionId, found))
  }

  /** Adds what a task has reported since the last time. */
  private def add(
      task: Long,
      executor: String,
      host: String,
      time: Long,
      updates: Seq[AccumulableInfo]): Unit = {
    val added = mutable.LinkedHashMap.empty[LiveOperator, PythonTotals]
    for {
      update <- updates
      (operator, measure) <- operators.get(update.id)
      value <- update.update.map(_.toString.toLong) if value > 0
    } {
      val before = reported.getOrElseUpdate(task, mutable.LongMap.empty)
      val last = before.getOrElse(update.id, 0L)
      before.update(update.id, value)
      val more = measure.of(if (measure.isPeak) value else value - last)
      val counted = if (last == 0) more.and(measure.ofTask) else more
      added.update(operator, added.getOrElse(operator, PythonTotals()).and(counted))
    }
    added.foreach { case (operator, totals) => addTo(operator, executor, host, time, totals) }
  }

  private def addTo(
      operator: LiveOperator,
      executorId: String,
      host: String,
      time: Long,
      totals: PythonTotals): Unit = {
    val executor = executors.getOrElseUpdate(executorId, new LiveExecutor(executorId))
    if (host.nonEmpty) executor.host = host
    executor.totals = executor.totals.and(totals.withoutState)
    operator.add(executorId, totals)
    operator.functions.addInQuery(operator.query.id, executorId, totals)
    operator.functions.timeline.add(time, totals)
    operator.query.timeline.add(time, totals)
    changed ++= Seq(executor, operator.functions, operator.query)
    observer.foreach(_.added(operator.functions.key, totals))
  }

  private def writeIfDue(): Unit =
    if (live && System.nanoTime - lastWrite > period) {
      writeChanged()
    }

  private def writeChanged(): Unit = {
    lastWrite = System.nanoTime
    changed.foreach(_.write(store, lastWrite))
    changed.clear()
  }
}

private object PythonListener {
  val RetainedFunctions = 1000
  val RetainedMoves = 1000L
  val MostEnded = 100
}

/** Who hears at once of what a running application does. */
trait PythonObserver {

  /** Functions, by their names, have more totals. */
  def added(functions: String, totals: PythonTotals): Unit

  /** A query with functions has ended. */
  def ended(): Unit
}

/** Totals, and those of each executor. */
private[ui] trait LiveTotals {
  var totals: PythonTotals = PythonTotals()
  var ofExecutors: Map[String, PythonTotals] = Map.empty

  def add(executor: String, more: PythonTotals): Unit = {
    totals = totals.and(more)
    ofExecutors =
      ofExecutors.updated(executor, ofExecutors.getOrElse(executor, PythonTotals()).and(more))
  }
}

private[ui] class LiveOperator(
    val planned: PlannedFunctions,
    val functions: LiveFunctions,
    val query: LiveQuery)
  extends LiveTotals {

  def toData: PythonOperatorData = PythonOperatorData(
    planned.operator,
    planned.functions,
    planned.mode,
    planned.reason,
    totals,
    ofExecutors)
}

private[ui] class LiveQuery(val id: Long, description: String, submitted: Long) extends LiveEntity {
  val timeline = new Timeline
  var operators: Seq[LiveOperator] = Nil
  var dependencies: Seq[PythonDependencies] = Nil
  var completed = 0L
  var error = ""

  override protected def doUpdate(): Any = new PythonQueryData(
    id,
    description,
    submitted,
    completed,
    error,
    operators.map(_.toData),
    dependencies,
    timeline.toSeq)
}

private[ui] class LiveFunctions(val key: String, names: Seq[String])
  extends LiveEntity
  with LiveTotals {
  import LiveFunctions._

  val timeline = new Timeline
  private var operators = Seq.empty[String]
  private var modes = Seq.empty[String]
  private var reasons = Seq.empty[String]
  private var queries = 0L
  private var lastQuery = -1L
  private var stateQuery = -1L

  /** They are in a query. */
  def see(planned: PlannedFunctions, query: Long): Unit = {
    operators = latest(operators, planned.operator)
    modes = latest(modes, planned.mode)
    reasons = latest(reasons, planned.reason)
    if (query != lastQuery) queries += 1
    lastQuery = query
  }

  /** State is that of the last query: each batch of a stream is one, which tells of all that is kept. */
  def addInQuery(query: Long, executor: String, more: PythonTotals): Unit = {
    if (more.hasState && query != stateQuery) {
      stateQuery = query
      totals = totals.withoutState
      ofExecutors = ofExecutors.transform((_, each) => each.withoutState)
    }
    add(executor, more)
  }

  private def latest(known: Seq[String], seen: String): Seq[String] =
    (known.filterNot(_ == seen) ++ Some(seen).filter(_.nonEmpty)).takeRight(Retained)

  override protected def doUpdate(): Any = new PythonFunctionData(
    key,
    names,
    operators,
    modes,
    reasons,
    queries,
    lastQuery,
    totals,
    ofExecutors,
    timeline.toSeq)
}

private object LiveFunctions {
  val Retained = 10
}

private[ui] class LiveExecutor(id: String) extends LiveEntity {
  var host = ""
  var totals: PythonTotals = PythonTotals()
  var state: PythonExecutorState = PythonExecutorState(0, id, "", "", 0, Nil)

  override protected def doUpdate(): Any = new PythonExecutorData(
    id,
    if (host.isEmpty) state.host else host,
    state.python,
    state.memory,
    state.interpreters,
    totals)
}
