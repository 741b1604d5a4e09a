package io.pyflow.admission

import java.util.Locale

import org.apache.spark.SparkConf
import org.apache.spark.sql.pyflow.SessionUser

import io.pyflow.config.PyFlowConf

/**
 * Whether functions may enter the executors' JVMs at all. Decided by the application's
 * configuration, which no session can change.
 */
object Permission {

  /** Why functions of these names may not run in thread mode, in the session that plans now. */
  def refusal(names: Seq[String], conf: SparkConf): Option[String] =
    PyFlowConf.ALLOWED.in(conf).map(_.trim) match {
      case None => ofOtherUser
      case Some(all) if is(all, "true") => None
      case Some(none) if is(none, "false") =>
        Some(s"thread mode is not allowed in this application (${PyFlowConf.ALLOWED.key}=false)")
      case Some(patterns) =>
        val allowed = patterns.split(",").map(_.trim)
        names.find(name => !allowed.exists(matches(name, _))).map { name =>
          s"$name is not among the functions allowed in thread mode " +
            s"(${PyFlowConf.ALLOWED.key}=$patterns)"
        }
    }

  /** Users of a Connect server share its executors, and thread mode shares their memory. */
  private def ofOtherUser: Option[String] =
    SessionUser.ofConnect.filterNot(SessionUser.ofApplication.contains).map { user =>
      val whose = if (user.isEmpty) "no known user" else s"the user $user"
      s"it belongs to a Spark Connect session of $whose, not of the one who runs the server " +
        s"(an administrator can set ${PyFlowConf.ALLOWED.key} there)"
    }

  private def is(value: String, word: String): Boolean = value.toLowerCase(Locale.ROOT) == word

  private def matches(name: String, pattern: String): Boolean = {
    val expression = pattern.map {
      case '*' => ".*"
      case '?' => "."
      case character => java.util.regex.Pattern.quote(character.toString)
    }
    name.matches(expression.mkString)
  }
}
