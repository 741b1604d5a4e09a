package org.apache.spark.sql.pyflow.ui

import java.time.{Instant, ZoneId}
import java.time.format.DateTimeFormatter
import java.util.Locale

import scala.xml.Node

/**
 * The time per call over the time of day, as a drawing: a line for each of several, on a logarithmic
 * scale.
 */
private[ui] object TimePlot {
  private val Width = 900
  private val Height = 240
  private val Left = 70
  private val Bottom = 24
  private val Top = 8
  private val LegendWidth = 260
  private val LegendLine = 18
  private val TimeTicks = 5
  private val LongestName = 34

  private val Colors =
    Seq("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")
  val Most: Int = Colors.length

  private val clock = DateTimeFormatter.ofPattern("HH:mm:ss").withZone(ZoneId.systemDefault)

  /** @param lines what each is called, and its points; those without calls are left out */
  def apply(lines: Seq[(String, Seq[TimePoint])]): Seq[Node] = {
    val drawn = lines.filter(_._2.nonEmpty).take(Most)
    if (drawn.isEmpty) Nil else Seq(drawing(drawn))
  }

  private def drawing(lines: Seq[(String, Seq[TimePoint])]): Node = {
    val points = lines.flatMap(_._2)
    val begin = points.map(_.time).min
    val end = points.map(point => point.time + point.span).max
    // Whole powers of ten around all values.
    val low = math.floor(points.map(level).min).toInt
    val high = math.ceil(points.map(level).max).toInt.max(low + 1)

    def x(time: Double): Double = Left + (time - begin) / (end - begin) * (Width - Left)
    def y(exponent: Double): Double =
      Top + (high - exponent) / (high - low) * (Height - Top - Bottom)

    val levels = (low to high).map { exponent =>
      <g>
        <line x1={Left.toString} x2={Width.toString} y1={number(y(exponent))}
          y2={number(y(exponent))} stroke="currentColor" stroke-opacity="0.15"/>
        <text x={(Left - 6).toString} y={number(y(exponent) + 4)} text-anchor="end"
          >{Formats.time(math.pow(10, exponent))}</text>
      </g>
    }
    val times = (0 to TimeTicks).map { tick =>
      val time = begin + (end - begin) * tick / TimeTicks
      val anchor = if (tick == 0) "start" else if (tick == TimeTicks) "end" else "middle"
      <text x={number(x(time.toDouble))} y={(Height - 6).toString} text-anchor={anchor}
        >{clock.format(Instant.ofEpochMilli(time))}</text>
    }
    val drawn = lines.zip(Colors).zipWithIndex.map { case (((name, ofLine), color), i) =>
      val placed = ofLine.map { point =>
        (x(point.time + point.span / 2.0), y(level(point)), point)
      }
      val path = placed.map { case (px, py, _) => s"${number(px)},${number(py)}" }.mkString(" ")
      val row = Top + (i + 1) * LegendLine
      <g>
        <polyline points={path} fill="none" stroke={color} stroke-width="1.5"/>
        {placed.map { case (px, py, point) => dot(name, color, px, py, point) }}
        <rect x={(Width + 16).toString} y={(row - 9).toString} width="10" height="10" fill={color}/>
        <text x={(Width + 32).toString} y={row.toString}>{shortened(name)}</text>
      </g>
    }
    <svg class="pyflow-plot" width="100%" font-size="12" fill="currentColor" role="img"
      aria-label="Time per call" preserveAspectRatio="xMinYMin meet"
      viewBox={s"0 0 ${Width + LegendWidth} $Height"}>{levels}{times}{drawn}</svg>
  }

  private def dot(name: String, color: String, x: Double, y: Double, point: TimePoint): Node =
    <circle cx={number(x)} cy={number(y)} r="3" fill={color}>
      <title>{
      s"$name: ${Formats.time(perCall(point))} per call, ${point.calls} calls, " +
        clock.format(Instant.ofEpochMilli(point.time))
    }</title>
    </circle>

  private def perCall(point: TimePoint): Double = (point.pythonTime.toDouble / point.calls).max(1)

  private def level(point: TimePoint): Double = math.log10(perCall(point))

  private def number(value: Double): String = "%.1f".formatLocal(Locale.ROOT, value)

  private def shortened(name: String): String =
    if (name.length <= LongestName) name else name.take(LongestName - 1) + "…"
}
