package io.pyflow.execution.task

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
    settings.kept match {
      case Some(kept) if asked == InterpreterKind.ISOLATED => ofKept(kept, context, modulesOf)
      case _ => PythonSlot.acquire(asked, modulesOf)
    }
  }

  private def ofKept(kept: KeptInterpreters, context: TaskContext, modulesOf: String): PythonSlot =
    kept match {
      case KeptInterpreters.OfSubtasks =>
        KeptInterpreters.owner(context) match {
          case Some(owner) =>
            PythonSlot.acquireKept(modulesOf, owner, TaskSlots.in(SparkEnv.get.conf))
          case None => PythonSlot.acquire(InterpreterKind.ISOLATED, modulesOf)
        }
      case KeptInterpreters.OfEnded(queries) =>
        queries.iterator
          .map(KeptInterpreters.owners)
          .flatMap(PythonSlot.acquireForLastTime(_).toScala)
          .nextOption()
          .getOrElse(PythonSlot.acquire(InterpreterKind.SHARED, modulesOf))
    }
}
