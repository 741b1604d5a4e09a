package io.pyflow.admission

/** Whether an executor did not end by itself, by what Spark says of its loss. */
private[admission] object EndedFromOutside {

  /**
   * Spark's own doing, that of a cluster manager, and SIGTERM: a node that is drained, a container that
   * is stopped.
   */
  private val Causes = Seq(
    "killed by driver",
    "decommission",
    "heartbeat timed out",
    "worker lost",
    "preempted",
    "because of a YARN event",
    "explicit termination request",
    "deleted by a user or the framework",
    "code 143")

  def apply(cause: String): Boolean = Causes.exists(cause.contains)
}
