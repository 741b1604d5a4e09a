package org.apache.spark.sql.pyflow

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._
import scala.util.{Failure, Try}
import scala.util.control.NonFatal

import org.apache.spark.{SparkEnv, SparkException}
import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.rpc.{RpcCallContext, RpcEndpointRef, RpcEnv, RpcTimeout, ThreadSafeRpcEndpoint}

/**
 * Requests of the driver to its executors. Spark's plugins send the other way only, so each executor
 * sends an endpoint of its own when it starts.
 */
object ExecutorRequests {
  private val Name = "pyflow-"

  /** As the driver knows them, by the executor's id. */
  private val endpoints = TrieMap.empty[String, RpcEndpointRef]

  /** Starts with an application, on its driver. */
  def begin(): Unit = endpoints.clear()

  /** Has this executor answer, on a thread of its own for each request. */
  def serve(context: PluginContext)(answer: String => String): Unit = {
    val rpc = SparkEnv.get.rpcEnv
    val endpoint = rpc.setupEndpoint(Name + context.executorID, new Endpoint(rpc, answer))
    if (Executors.isDriver(context.executorID)) receive(endpoint) else context.send(endpoint)
  }

  /** Whether the driver has received an executor's endpoint. */
  def receive(message: AnyRef): Boolean = message match {
    case endpoint: RpcEndpointRef =>
      endpoints.update(endpoint.name.stripPrefix(Name), endpoint)
      true
    case _ => false
  }

  /** What each executor answers in the time that it has, or why it does not, by its id. */
  def ask(request: String, patience: FiniteDuration): Seq[(String, Try[String])] = {
    endpoints.keys.filterNot(isThere).foreach(endpoints.remove)
    val timeout = new RpcTimeout(patience, "the patience of pyflow")
    endpoints.toSeq
      .sortBy(_._1.toIntOption)
      .map { case (executor, endpoint) => executor -> endpoint.ask[String](request, timeout) }
      .map { case (executor, answer) => executor -> Try(timeout.awaitResult(answer)) }
      .map { case (executor, answer) => executor -> answer.recoverWith(e => Failure(cause(e))) }
  }

  /** Without what Spark puts around it. */
  private def cause(e: Throwable): Throwable = e match {
    case outer: SparkException if outer.getCause != null => outer.getCause
    case _ => e
  }

  private def isThere(executor: String): Boolean =
    Executors.isDriver(executor) || Executors.isRegistered(executor)

  private class Endpoint(override val rpcEnv: RpcEnv, answer: String => String)
    extends ThreadSafeRpcEndpoint {

    override def receiveAndReply(context: RpcCallContext): PartialFunction[Any, Unit] = {
      case request: String =>
        val thread = new Thread(() => reply(context, request), s"pyflow-$request")
        thread.setDaemon(true)
        thread.start()
    }

    private def reply(context: RpcCallContext, request: String): Unit =
      try context.reply(answer(request))
      catch {
        case NonFatal(e) => context.sendFailure(e)
      }
  }
}
