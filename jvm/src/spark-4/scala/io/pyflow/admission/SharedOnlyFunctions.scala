package io.pyflow.admission

import java.util.concurrent.ConcurrentHashMap

import org.slf4j.LoggerFactory

import io.pyflow.spec.FunctionsSpec

/**
 * Functions of the running application that were seen to need a module which refuses isolated
 * interpreters. In the JVM that has seen it they go to the shared interpreter right away; the driver
 * knows them all, for its plans.
 */
private[pyflow] object SharedOnlyFunctions {
  private val log = LoggerFactory.getLogger(getClass)
  private val digests = ConcurrentHashMap.newKeySet[String]()

  def contains(spec: FunctionsSpec): Boolean = contains(spec.commandsDigest)

  /** @param digest of the functions of an operator */
  def contains(digest: String): Boolean = digests.contains(digest)

  /** Forgets everything, when an application begins: its large functions are the ids of broadcasts. */
  def clear(): Unit = digests.clear()

  /** @param imports what the functions need the shared interpreter for */
  def add(spec: FunctionsSpec, imports: String): Unit =
    if (digests.add(spec.commandsDigest)) {
      log.warn(
        "{} moves to {}: it imports {}, and isolated interpreters take no extension modules but the " +
          "standard library's",
        spec.functionNames: Any,
        if (spec.hasSessionModules) "workers" else "the shared interpreter",
        imports: Any)
      DriverConnection.send(MovedToShared(spec.commandsDigest))
    }

  /** Adds what an executor has seen. */
  def add(moved: MovedToShared): Unit = digests.add(moved.digest)
}
