package org.apache.spark.sql.pyflow.ui

import scala.xml.{Node, Text}

import jakarta.servlet.http.HttpServletRequest
import org.apache.spark.ui.{UIUtils, WebUIPage}

/** What has run in an application, where, and why. */
private[ui] class PythonPage(tab: PythonTab) extends WebUIPage("") {
  import PythonPage._

  override def render(request: HttpServletRequest): Seq[Node] = {
    val functions = tab.store.functions
    val content =
      Tables.section("Functions", ofFunctions(request, functions)) ++
        Tables.section(
          "Time per call",
          TimePlot(functions.map(each => each.key -> each.timeline))) ++
        Tables.section("State", ofState(functions)) ++
        Tables.section("Moved functions", ofMoves(tab.store.moves)) ++
        Tables.section("Executors", toStacks(request) ++ ofExecutors(tab.store.executors)) ++
        Tables.section("Dependencies", ofDependencies) ++
        Tables.section("Queries", ofQueries(request, tab.store.queries.take(MostQueries)))
    UIUtils.headerSparkPage(request, "Python", content, tab)
  }

  private def ofFunctions(
      request: HttpServletRequest,
      functions: Seq[PythonFunctionData]): Seq[Node] =
    if (functions.isEmpty) Text("No query has had Python functions yet.")
    else {
      Tables.withTotals[PythonFunctionData](
        "python-functions",
        "Functions" -> "Those that an operator evaluates together",
        "Mode" -> "Where queries are planned to run them",
        "Reasons for process mode" -> "",
        "Operators" -> "",
        "Queries" -> "How many have had them, and which the last was")(functions)(
        each =>
          Seq(
            Tables.lines(each.functions),
            <td>{Tables.modes(each.modes)}</td>,
            Tables.lines(each.reasons),
            Tables.lines(each.operators),
            <td class="text-nowrap" sorttable_customkey={each.queries.toString}>
              {each.queries}, {linkTo(request, each.lastQuery)}
            </td>),
        _.totals)
    }

  private def ofState(functions: Seq[PythonFunctionData]): Seq[Node] = {
    val keeping = functions.filter { each =>
      val totals = each.totals
      totals.hasState || totals.inputRows > 0 || totals.lateRows > 0
    }
    if (keeping.isEmpty) Nil
    else {
      Tables.table[PythonFunctionData](
        "python-state",
        "Operator" -> "",
        "Queries" -> "Each batch of a stream is one",
        "Records in" -> "",
        "Records out" -> "",
        "Late" -> "Records that the watermark has left out",
        "State" -> "Entries after the last batch",
        "Memory of state" -> "After the last batch")(keeping) { each =>
        <tr>
          {Tables.lines(each.functions)}
          {Formats.numberCell(each.queries)}
          {Formats.numberCell(each.totals.inputRows)}
          {Formats.numberCell(each.totals.rows)}
          {Formats.numberCell(each.totals.lateRows)}
          {Formats.numberCell(each.totals.stateRows)}
          {Formats.bytesCell(each.totals.stateMemory)}
        </tr>
      }
    }
  }

  private def ofMoves(moves: Seq[PythonMoveData]): Seq[Node] =
    if (moves.isEmpty) Nil
    else {
      Tables.table[PythonMoveData]("python-moves", "Time" -> "", "Functions" -> "", "Reason" -> "")(
        moves) { move =>
        <tr>
          <td sorttable_customkey={move.time.toString}>{UIUtils.formatDate(move.time)}</td>
          {Tables.lines(if (move.functions.isEmpty) Seq("all functions") else move.functions)}
          <td>{move.reason}</td>
        </tr>
      }
    }

  private def toStacks(request: HttpServletRequest): Seq[Node] = tab.stacks.toSeq.map { _ =>
    val path = s"/${tab.prefix}/${PythonStacksPage.Prefix}/"
    <p><a href={UIUtils.prependBaseUri(request, tab.basePath, path)}>What they do now</a></p>
  }

  private def ofExecutors(executors: Seq[PythonExecutorData]): Seq[Node] =
    if (executors.isEmpty) Nil
    else {
      Tables.withTotals[PythonExecutorData](
        "python-executors",
        "Executor" -> "",
        "Host" -> "",
        "Python" -> "The version of its CPython",
        "Memory" -> "What CPython had allocated when the executor was last asked",
        "Interpreters" -> "The number of its interpreters, the shared one included",
        "Modules" -> "What interpreters have imported beside the standard library")(executors)(
        each =>
          Seq(
            <td>{each.id}</td>,
            <td>{each.host}</td>,
            <td>{each.python}</td>,
            Formats.bytesCell(each.memory),
            Formats.numberCell(each.interpreters.length),
            <td>{modules(each.interpreters)}</td>),
        _.totals)
    }

  private def modules(interpreters: Seq[PythonInterpreter]): Seq[Node] =
    interpreters.filter(_.modules.nonEmpty).map { each =>
      val name = if (each.number == 0) "shared" else s"isolated ${each.number}"
      <details><summary>{s"$name: ${each.modules.length}"}</summary>
        {each.modules.mkString(", ")}</details>
    }

  /** What executors have of the application beside Python's own packages. */
  private def ofDependencies: Seq[Node] = {
    val environment = tab.ui.store.environmentInfo()
    val settings = environment.sparkProperties.filter { case (key, value) =>
      value.nonEmpty && (DependencySettings.contains(key) || key.startsWith(Prefix))
    }
    val files = environment.classpathEntries.collect {
      case (file, _) if PythonFiles.exists(file.endsWith) => "file" -> file
    }
    val found = (settings ++ files).distinct.toSeq
    if (found.isEmpty) Nil
    else {
      Tables.table[(String, String)]("python-dependencies", "Setting" -> "", "Value" -> "")(found) {
        case (key, value) => <tr><td>{key}</td><td>{value}</td></tr>
      }
    }
  }

  private def ofQueries(request: HttpServletRequest, queries: Seq[PythonQueryData]): Seq[Node] =
    if (queries.isEmpty) Nil
    else {
      Tables.withTotals[PythonQueryData](
        "python-queries",
        "Query" -> "",
        "Description" -> "",
        "Submitted" -> "",
        "State" -> "",
        "Functions" -> "")(queries)(
        each =>
          Seq(
            <td sorttable_customkey={each.id.toString}>{linkTo(request, each.id)}</td>,
            <td>{each.description}</td>,
            <td sorttable_customkey={each.submitted.toString}>{
              UIUtils.formatDate(each.submitted)
            }</td>,
            <td>{stateOf(each)}</td>,
            Tables.lines(each.operators.map(_.functions.mkString(", ")).distinct)),
        _.operators.map(_.totals).foldLeft(PythonTotals())(_.and(_)))
    }

  private def linkTo(request: HttpServletRequest, query: Long): Node = {
    val path = s"/${tab.prefix}/${PythonQueryPage.Prefix}/?id=$query"
    <a href={UIUtils.prependBaseUri(request, tab.basePath, path)}>{query}</a>
  }
}

private[ui] object PythonPage {
  private val MostQueries = 100
  private val Prefix = "spark.pyflow."
  private val PythonFiles = Seq(".py", ".zip", ".egg", ".whl")
  private val DependencySettings = Set(
    "spark.submit.pyFiles",
    "spark.archives",
    "spark.files",
    "spark.pyspark.python",
    "spark.pyspark.driver.python")

  def stateOf(query: PythonQueryData): String =
    if (query.completed == 0) "RUNNING" else if (query.error.isEmpty) "COMPLETED" else "FAILED"
}
