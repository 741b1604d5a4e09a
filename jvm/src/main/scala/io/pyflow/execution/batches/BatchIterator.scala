package io.pyflow.execution.batches

import org.apache.spark.sql.vectorized.ColumnarBatch

import io.pyflow.execution.task.SingleEntry

/**
 * The batches of one task; each is valid until the next one.
 *
 * The iterator may be driven by another thread than the task's, and the task may end while it is:
 * see [[SingleEntry]].
 *
 * @param advance makes the next batch; None after the last
 * @param interrupt asks the thread that is inside to leave; returns at once
 * @param release gives everything back; called once
 */
private[batches] class BatchIterator(
    advance: () => Option[ColumnarBatch],
    interrupt: () => Unit,
    release: () => Unit)
  extends Iterator[ColumnarBatch] {

  private val entry = new SingleEntry(() => interrupt(), () => releaseAll())
  private var upcoming = Option.empty[ColumnarBatch]
  private var ended = false

  override def hasNext: Boolean = entry.enter() && {
    try {
      if (upcoming.isEmpty && !ended) {
        upcoming = advance()
        ended = upcoming.isEmpty
      }
      upcoming.isDefined && !entry.isClosed
    } finally entry.leave()
  }

  override def next(): ColumnarBatch = {
    if (!hasNext) {
      throw new NoSuchElementException("there are no more batches, or the task has ended")
    }
    val batch = upcoming.get
    upcoming = None
    batch
  }

  /** Does something before the first batch is taken, unless the task has ended. */
  def first(work: => Unit): Unit = entry.run(() => work)

  /** Ends the iterator when its task ends. */
  def close(): Unit = entry.close()

  private def releaseAll(): Unit = {
    upcoming = None
    release()
  }
}
