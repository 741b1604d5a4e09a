package org.apache.spark.sql.pyflow.ui

import org.apache.spark.status.KVUtils
import org.apache.spark.util.kvstore.KVStore

/** What pages and answers are made of, of a running application or one of the history server. */
class PythonStore(store: KVStore) {

  /** Those that took most time first. */
  def functions: Seq[PythonFunctionData] =
    KVUtils
      .viewToSeq(store.view(classOf[PythonFunctionData]))
      .sortBy(each => -(each.totals.pythonTime + each.totals.workerTime))

  /** The latest first. */
  def queries: Seq[PythonQueryData] =
    KVUtils.viewToSeq(store.view(classOf[PythonQueryData]).reverse())

  def query(id: Long): Option[PythonQueryData] =
    try Some(store.read(classOf[PythonQueryData], id))
    catch {
      case _: NoSuchElementException => None
    }

  def executors: Seq[PythonExecutorData] =
    KVUtils
      .viewToSeq(store.view(classOf[PythonExecutorData]))
      .sortBy(each => (each.id.toIntOption.getOrElse(-1), each.id))

  /** The latest first. */
  def moves: Seq[PythonMoveData] =
    KVUtils.viewToSeq(store.view(classOf[PythonMoveData]).reverse())

  def isEmpty: Boolean =
    Seq(classOf[PythonQueryData], classOf[PythonExecutorData]).forall(store.count(_) == 0)
}
