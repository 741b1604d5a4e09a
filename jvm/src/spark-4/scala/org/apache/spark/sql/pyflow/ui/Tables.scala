package org.apache.spark.sql.pyflow.ui

import scala.xml.{Node, NodeSeq}

import org.apache.spark.ui.UIUtils

/** Tables of totals, which all pages have. */
private[ui] object Tables {

  /** The columns of totals. */
  private val Columns: Seq[(String, String)] = Seq(
    "Tasks" ->
      ("Isolated: in interpreters of their own; shared: in the one that an executor's tasks share; " +
        "workers: in Python workers"),
    "Rows" -> "Rows that came out",
    "Calls" -> "Calls into Python, each with a bundle of rows or a batch",
    "Time in Python" -> "Time in calls into Python",
    "Time per call" -> "Time in Python divided by the calls",
    "Time per row" -> "Time in Python, or of workers, divided by the rows",
    "GIL wait" -> "What of their time calls have waited for the GIL before they ran",
    "Time of workers" -> "Time of Python workers, with what they wait for their input",
    "Peak memory" -> "The most memory that CPython had in an executor, for all its tasks")

  private def cells(totals: PythonTotals): Seq[Node] = Seq(
    Formats.tasksCell(totals),
    Formats.numberCell(totals.rows),
    Formats.numberCell(totals.calls),
    Formats.timeCell(totals.pythonTime),
    Formats.timePerCell(totals.pythonTime, totals.calls),
    Formats.timePerCell(totals.pythonTime + totals.workerTime, totals.rows),
    Formats.shareCell(totals.gilWaitTime, totals.gilWaitTime + totals.pythonTime),
    Formats.timeCell(totals.workerTime),
    Formats.bytesCell(totals.peakMemory))

  /**
   * A table with totals in its last columns.
   *
   * @param columns the others, each with what it means
   */
  def withTotals[T](id: String, columns: (String, String)*)(
      rows: Seq[T])(before: T => Seq[Node], totals: T => PythonTotals): Seq[Node] =
    table(id, columns ++ Columns: _*)(rows) { row =>
      <tr>{before(row)}{cells(totals(row))}</tr>
    }

  def table[T](id: String, columns: (String, String)*)(rows: Seq[T])(row: T => Node): Seq[Node] =
    UIUtils.listingTable[T](
      columns.map(_._1),
      row(_: T),
      rows,
      id = Some(id),
      tooltipHeaders = columns.map { case (_, meaning) => Some(meaning).filter(_.nonEmpty) })

  def section(title: String, content: Seq[Node]): NodeSeq =
    if (content.isEmpty) NodeSeq.Empty else <div><h4>{title}</h4>{content}</div>

  /** Where functions run, and why. */
  def modes(modes: Seq[String]): Seq[Node] = modes.map { mode =>
    val color = if (mode == "thread") "success" else "secondary"
    <span class={s"badge bg-$color me-1"}>{mode}</span>
  }

  /** Lines that may be long. */
  def lines(lines: Seq[String]): Node = <td>{lines.map(line => <div>{line}</div>)}</td>
}
