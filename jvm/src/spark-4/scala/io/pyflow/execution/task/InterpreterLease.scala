package io.pyflow.execution.task

import scala.jdk.CollectionConverters._
import scala.jdk.OptionConverters._

import org.apache.spark.{SparkEnv, TaskContext}

import io.pyflow.bridge.{InterpreterKind, PythonSlot}
import io.pyflow.config.{KeptInterpreters, TaskSlots, ThreadModeSettings}

/** Which of the interpreters a task gets. */
private[task] object InterpreterLease {

  /**
   * Leases an interpreter for a task.
   *
   * @param asked isolated if it may be; a task that ends what queries have kept goes to the shared
   *   one where none is kept any more
   */
  def of(context: TaskContext, asked: InterpreterKind, settings: ThreadModeSettings): PythonSlot = {
    val modulesOf = settings.worker.modulesOfSession.getOrElse("")
    val ended = KeptInterpreters.ended(context)
    if (asked == InterpreterKind.SHARED) {
      PythonSlot.acquire(asked, modulesOf)
    } else if (ended.nonEmpty) {
      PythonSlot
        .acquireForLastTime(ended.asJava)
        .toScala
        .getOrElse(PythonSlot.acquire(InterpreterKind.SHARED, modulesOf))
    } else {
      KeptInterpreters.owner(context).filter(_ => settings.keepsInterpreters) match {
        case Some(owner) =>
          PythonSlot.acquireKept(modulesOf, owner, TaskSlots.in(SparkEnv.get.conf))
        case None => PythonSlot.acquire(asked, modulesOf)
      }
    }
  }
}
