package org.apache.spark.sql.pyflow.ui

import scala.xml.{Node, Text}

import jakarta.servlet.http.HttpServletRequest
import org.apache.spark.ui.{UIUtils, WebUIPage}
import org.json4s.{DefaultFormats, Formats => JsonFormats}
import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods.parse

/**
 * The Python frames of all executors now, beside the thread dumps of Spark's UI, which have Java's.
 *
 * @param stacks the executors, as `pyflow stack` has them
 */
private[ui] class PythonStacksPage(tab: PythonTab, stacks: () => String)
  extends WebUIPage(PythonStacksPage.Prefix) {
  implicit private val formats: JsonFormats = DefaultFormats

  override def render(request: HttpServletRequest): Seq[Node] = {
    val content = parse(stacks()) match {
      case JArray(executors) => executors.flatMap(ofExecutor)
      case _ => Nil
    }
    UIUtils.headerSparkPage(request, "Python threads", content, tab)
  }

  private def ofExecutor(executor: JValue): Seq[Node] = {
    val title = Seq(
      Some(s"Executor ${text(executor, "executor")}"),
      (executor \ "host").extractOpt[String].map(host => s" on $host"),
      (executor \ "python").extractOpt[String].map(version => s", Python $version"))
    val threads = listed(executor, "threads").map(Row.ofTask)
    val workers = listed(executor, "workers").flatMap(Row.ofWorker)
    val content: Seq[Node] = (executor \ "error").extractOpt[String] match {
      case Some(error) => Text(error)
      case None if threads.isEmpty && workers.isEmpty => Text("No Python code runs.")
      case None => table(threads ++ workers)
    }
    Tables.section(title.flatten.mkString, content)
  }

  private def table(rows: Seq[Row]): Seq[Node] =
    Tables.table[Row](
      "python-threads",
      "Thread" -> "In the executor's JVM, or in a Python worker",
      "Task" -> "",
      "Functions" -> "",
      "Interpreter" -> "",
      "Frames" -> "The innermost first")(rows) { row =>
      <tr>
        <td>{row.thread}</td>
        <td>{row.task}</td>
        <td>{row.functions}</td>
        <td>{row.interpreter}</td>
        <td><pre class="mb-0">{row.frames.mkString("\n")}</pre></td>
      </tr>
    }

  private def listed(of: JValue, key: String): Seq[JValue] = of \ key match {
    case JArray(values) => values
    case _ => Nil
  }

  private def text(of: JValue, keys: String*): String =
    keys.flatMap(key => (of \ key).extractOpt[String]).headOption.getOrElse("")

  private case class Row(
      thread: String,
      task: String,
      functions: String,
      interpreter: String,
      frames: Seq[String])

  private object Row {
    def ofTask(thread: JValue): Row = {
      val interpreter = (thread \ "interpreter").extractOpt[Int] match {
        case Some(0) => "shared"
        case Some(number) => s"isolated $number"
        case None => ""
      }
      val gil = (thread \ "holds_gil").extractOpt[Boolean] match {
        case Some(true) => ", holds the GIL"
        case Some(false) => ""
        case None => "waits for the GIL"
      }
      Row(
        text(thread, "thread"),
        text(thread, "task"),
        text(thread, "functions"),
        interpreter + gil,
        frames(thread))
    }

    def ofWorker(worker: JValue): Seq[Row] = {
      val process = s"worker process ${text(worker, "process")}"
      val failed =
        (worker \ "error").extractOpt[String].map(why => Row(process, "", "", "", Seq(why)))
      failed.toSeq ++ listed(worker, "threads").map { thread =>
        Row(s"$process, thread ${text(thread, "os_thread_id")}", "", "", "", frames(thread))
      }
    }

    /** py-spy has other names for the parts of a frame. */
    private def frames(thread: JValue): Seq[String] = listed(thread, "frames").map { frame =>
      s"${text(frame, "function", "name")} (${text(frame, "file", "filename")}:${text(frame, "line")})"
    }
  }
}

private[ui] object PythonStacksPage {
  val Prefix = "stacks"
}
