package org.apache.spark.sql.pyflow.ui

import scala.xml.Node

import jakarta.servlet.http.HttpServletRequest
import org.apache.spark.ui.{UIUtils, WebUIPage}

/** The Python functions of a query, by operator and executor. */
private[ui] class PythonQueryPage(tab: PythonTab) extends WebUIPage(PythonQueryPage.Prefix) {

  override def render(request: HttpServletRequest): Seq[Node] = {
    val asked = Option(request.getParameter("id")).getOrElse("")
    val content = asked.toLongOption.flatMap(tab.store.query) match {
      case Some(query) => described(request, query)
      case None => <p>No query {asked} has Python functions, or it is not kept any more.</p>
    }
    UIUtils.headerSparkPage(request, s"Python in query $asked", content, tab)
  }

  private def described(request: HttpServletRequest, query: PythonQueryData): Seq[Node] = {
    val sql = UIUtils.prependBaseUri(request, tab.basePath, s"/SQL/execution/?id=${query.id}")
    val summary =
      <ul class="list-unstyled">
        <li><strong>Description: </strong>{query.description}</li>
        <li><strong>Submitted: </strong>{UIUtils.formatDate(query.submitted)}</li>
        <li><strong>State: </strong>{PythonPage.stateOf(query)}</li>
        <li><a href={sql}>The whole query</a></li>
      </ul>
    summary ++
      Tables.section("Operators", ofOperators(query.operators)) ++
      Tables.section("Time per call", TimePlot(Seq("all functions" -> query.timeline))) ++
      Tables.section("Executors", ofExecutors(query.operators)) ++
      Tables.section("Dependencies", ofDependencies(query.dependencies))
  }

  private def ofOperators(operators: Seq[PythonOperatorData]): Seq[Node] =
    Tables.withTotals[PythonOperatorData](
      "python-operators",
      "Operator" -> "",
      "Functions" -> "",
      "Mode" -> "Where the query is planned to run them",
      "Reason for process mode" -> "")(operators)(
      each =>
        Seq(
          <td>{each.operator}</td>,
          Tables.lines(each.functions),
          <td>{Tables.modes(Seq(each.mode))}</td>,
          <td>{each.reason}</td>),
      _.totals)

  private def ofDependencies(dependencies: Seq[PythonDependencies]): Seq[Node] =
    if (dependencies.isEmpty) Nil
    else {
      Tables.table[PythonDependencies](
        "python-dependencies",
        "Functions" -> "",
        "Files" -> "What they may import from beside the packages of their Python")(dependencies) {
        each => <tr>{Tables.lines(each.functions)}{Tables.lines(each.files)}</tr>
      }
    }

  private def ofExecutors(operators: Seq[PythonOperatorData]): Seq[Node] = {
    val rows = for {
      operator <- operators
      (executor, totals) <- operator.executors.toSeq.sortBy(_._1)
    } yield (executor, operator, totals)
    Tables.withTotals[(String, PythonOperatorData, PythonTotals)](
      "python-executors",
      "Executor" -> "",
      "Operator" -> "",
      "Functions" -> "")(rows)(
      { case (executor, operator, _) =>
        Seq(<td>{executor}</td>, <td>{operator.operator}</td>, Tables.lines(operator.functions))
      },
      _._3)
  }
}

private[ui] object PythonQueryPage {
  val Prefix = "query"
}
