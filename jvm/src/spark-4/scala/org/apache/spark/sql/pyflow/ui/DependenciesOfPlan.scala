package org.apache.spark.sql.pyflow.ui

import org.apache.spark.sql.catalyst.expressions.PythonFuncExpression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.pyflow.PickledFunction

/** Finds what the Python functions of a plan may import from. */
private[ui] object DependenciesOfPlan {

  /** The sets of files, each with its functions; none for functions without files. */
  def in(plan: LogicalPlan): Seq[PythonDependencies] = {
    val functions = plans(plan)
      .flatMap(_.expressions)
      .flatMap(_.collect { case function: PythonFuncExpression =>
        function.name -> PickledFunction(function.func)
      })
    functions.groupMap { case (_, function) => function.includes } { case (name, _) =>
      name
    }.collect {
      case (files, names) if files.nonEmpty => PythonDependencies(names.distinct, files)
    }.toSeq
      .sortBy(_.functions.mkString(", "))
  }

  /** With those of subqueries, and of what commands write. */
  private def plans(plan: LogicalPlan): Seq[LogicalPlan] =
    plan.collectWithSubqueries { case each => each }.flatMap { each =>
      each +: each.innerChildren.collect { case inner: LogicalPlan => inner }.flatMap(plans)
    }
}
