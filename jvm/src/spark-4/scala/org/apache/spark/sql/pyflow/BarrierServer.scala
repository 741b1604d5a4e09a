package org.apache.spark.sql.pyflow

import java.io.{BufferedOutputStream, DataInputStream, DataOutputStream, IOException}
import java.net.{InetAddress, ServerSocket, Socket, SocketException}

import scala.util.Using

import org.apache.spark.{BarrierTaskContext, SparkEnv, SparkException}
import org.apache.spark.api.python.{BarrierTaskContextMessageProtocol, PythonWorkerUtils}
import org.apache.spark.security.SocketAuthHelper
import org.slf4j.LoggerFactory

/**
 * Answers `barrier()` and `allGather()` of the functions of one task: PySpark's
 * `BarrierTaskContext` reaches its JVM through a socket on the loopback device. Ends with the task.
 */
private[pyflow] class BarrierServer(context: BarrierTaskContext) {
  import BarrierServer._

  private val authentication = new SocketAuthHelper(SparkEnv.get.conf)
  private val server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress)

  def port: Int = server.getLocalPort

  def secret: String = authentication.secret

  def start(): Unit = {
    context.addTaskCompletionListener[Unit](_ => server.close())
    val thread = new Thread(() => serve(), s"pyflow-barrier-${context.taskAttemptId()}")
    thread.setDaemon(true)
    thread.start()
  }

  private def serve(): Unit =
    while (!server.isClosed) {
      try Using.resource(server.accept())(answer)
      catch {
        case e @ (_: IOException | _: IllegalArgumentException) if !server.isClosed =>
          log.warn("A call of BarrierTaskContext could not be answered", e)
        case _: SocketException => // the task has ended
      }
    }

  private def answer(socket: Socket): Unit = {
    authentication.authClient(socket)
    val in = new DataInputStream(socket.getInputStream)
    val out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream))
    try {
      val messages = call(in)
      out.writeInt(messages.length)
      messages.foreach(PythonWorkerUtils.writeUTF(_, out))
    } catch {
      case e: SparkException => PythonWorkerUtils.writeUTF(e.getMessage, out)
    }
    out.flush()
  }

  private def call(in: DataInputStream): Array[String] = in.readInt() match {
    case Protocol.BARRIER_FUNCTION =>
      context.barrier()
      Array(Protocol.BARRIER_RESULT_SUCCESS)
    case Protocol.ALL_GATHER_FUNCTION => context.allGather(PythonWorkerUtils.readUTF(in))
    case _ => throw new SparkException(Protocol.ERROR_UNRECOGNIZED_FUNCTION)
  }
}

private object BarrierServer {
  private val log = LoggerFactory.getLogger(classOf[BarrierServer])
  private val Protocol = BarrierTaskContextMessageProtocol
}
