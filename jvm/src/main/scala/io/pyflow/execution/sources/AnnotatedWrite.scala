package io.pyflow.execution.sources

import org.apache.spark.sql.connector.write._

/**
 * A write that the plan shows with a note on where its Python functions run.
 *
 * @param batch the write that this delegates to
 */
class AnnotatedWrite(protected val batch: BatchWrite, note: String) extends BatchWrite {
  override def toString: String = s"$batch $note"

  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
    batch.createBatchWriterFactory(info)

  override def useCommitCoordinator(): Boolean = batch.useCommitCoordinator()

  override def onDataWriterCommit(message: WriterCommitMessage): Unit =
    batch.onDataWriterCommit(message)

  override def commit(messages: Array[WriterCommitMessage]): Unit = batch.commit(messages)

  override def commit(messages: Array[WriterCommitMessage], summary: WriteSummary): Unit =
    batch.commit(messages, summary)

  override def abort(messages: Array[WriterCommitMessage]): Unit = batch.abort(messages)
}
