package org.apache.spark.sql.execution.python

import java.io.File

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.util.Utils

/**
 * Rows that wait for the results of functions over them, first in, first out; they go to disk where
 * memory is short. Lives in Spark's package because Spark keeps its queue there.
 */
class PendingRows(context: TaskContext, fields: Int) {
  private val queue = HybridRowQueue(
    context.taskMemoryManager(),
    new File(Utils.getLocalDir(SparkEnv.get.conf)),
    fields)

  context.addTaskCompletionListener[Unit](_ => queue.close())

  def add(row: UnsafeRow): Unit = queue.add(row)

  /** Valid until the next call. */
  def remove(): UnsafeRow = queue.remove()
}
