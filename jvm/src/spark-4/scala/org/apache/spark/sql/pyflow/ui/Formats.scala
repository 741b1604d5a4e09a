package org.apache.spark.sql.pyflow.ui

import java.util.Locale

import scala.xml.{Node, Text}

import org.apache.spark.util.Utils

/** How pages write what was measured, in cells of tables that can be sorted. */
private[ui] object Formats {
  private val None = "–"

  /** A time in nanoseconds. */
  def time(nanos: Double): String = {
    def in(unit: String, size: Double) = {
      val digits = "%.3g".formatLocal(Locale.ROOT, nanos / size)
      s"${digits.replaceFirst("[.]0+$", "")} $unit"
    }
    nanos match {
      case _ if nanos < 999.5 => in("ns", 1)
      case _ if nanos < 999.5e3 => in("µs", 1e3)
      case _ if nanos < 999.5e6 => in("ms", 1e6)
      case _ if nanos < 999.5e9 => in("s", 1e9)
      case _ => "%,d s".formatLocal(Locale.ROOT, (nanos / 1e9).round)
    }
  }

  def timeCell(nanos: Long): Node =
    cell(nanos.toDouble, if (nanos == 0) None else time(nanos.toDouble))

  /** A time of each of so many. */
  def timePerCell(nanos: Long, number: Long): Node =
    if (nanos == 0 || number == 0) cell(0, None)
    else cell(nanos.toDouble / number, time(nanos.toDouble / number))

  /** Tasks by where they ran. */
  def tasksCell(totals: PythonTotals): Node = {
    val kinds = Seq(
      totals.isolatedTasks -> "isolated",
      totals.sharedTasks -> "shared",
      totals.workerTasks -> "workers").filter(_._1 > 0)
    val key = kinds.map(_._1).sum
    <td class="text-nowrap" sorttable_customkey={key.toString}>{
      kinds.map { case (tasks, kind) => <div>{s"$tasks $kind"}</div> }
    }</td>
  }

  def numberCell(number: Long): Node =
    cell(number.toDouble, "%,d".formatLocal(Locale.ROOT, number))

  def bytesCell(bytes: Long): Node =
    cell(bytes.toDouble, if (bytes == 0) None else Utils.bytesToString(bytes))

  /** A part of a whole, in percent. */
  def shareCell(part: Long, whole: Long): Node =
    if (whole == 0) cell(0, None)
    else {
      val percent = 100.0 * part / whole
      cell(percent, "%.1f %%".formatLocal(Locale.ROOT, percent))
    }

  private def cell(key: Double, text: String): Node =
    <td class="text-end text-nowrap" sorttable_customkey={key.toString}>{Text(text)}</td>
}
