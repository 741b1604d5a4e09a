package io.pyflow.config

import java.util.Locale

/**
 * Levels of loggers in Python, as numbers of its `logging`.
 *
 * @param default of the root logger
 * @param ofLoggers of others, by name
 */
case class LogLevels(default: Int, ofLoggers: Map[String, Int])

object LogLevels {
  private val Warning = 30

  /** `pyflow.session.log_levels` has the same names. */
  private val Names = Map(
    "OFF" -> 100,
    "CRITICAL" -> 50,
    "FATAL" -> 50,
    "ERROR" -> 40,
    "WARN" -> Warning,
    "WARNING" -> Warning,
    "INFO" -> 20,
    "DEBUG" -> 10,
    "TRACE" -> 5,
    "NOTSET" -> 0)

  /** Those of two settings; None where neither is set. */
  def of(default: Option[String], overrides: Option[String]): Option[LogLevels] =
    Option.when(default.isDefined || overrides.isDefined)(
      LogLevels(
        default.flatMap(number).getOrElse(Warning),
        overrides.flatMap(byLogger).getOrElse(Map.empty)))

  /** The number of a level; None of what is none. */
  def number(level: String): Option[Int] =
    Names.get(level.trim.toUpperCase(Locale.ROOT)).orElse(level.trim.toIntOption.filter(_ >= 0))

  /** Levels by logger of `name:level,name:level`; None of what is none. */
  def byLogger(overrides: String): Option[Map[String, Int]] = {
    val levels = overrides.split(",", -1).toSeq.map { entry =>
      entry.lastIndexOf(':') match {
        case -1 => None
        case at => number(entry.substring(at + 1)).map(entry.substring(0, at).trim -> _)
      }
    }
    Option.when(levels.forall(_.exists(_._1.nonEmpty)))(levels.flatten.toMap)
  }
}
