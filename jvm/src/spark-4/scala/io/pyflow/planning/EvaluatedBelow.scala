package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions.{Alias, AliasHelper, Attribute, ExprId, NamedExpression, PythonUDF}
import org.apache.spark.sql.catalyst.optimizer.CollapseProject
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}

/**
 * Takes the results of functions that a filter has needed, in place of evaluating them again for the
 * rows that are left. Spark moves a condition below the projection that it refers to, and with it a
 * copy of the functions.
 */
object EvaluatedBelow extends AliasHelper {

  /** Matches functions, or a projection of them, where there are such results: a plan with these. */
  def unapply(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case Project(list, child) => unapply(child).map(merged(list, _))
    case filter @ Filter(_, evaluation) =>
      reused(evaluation).map(below => filter.copy(child = below))
    case evaluation => reused(evaluation)
  }

  /**
   * A projection without those below it that only pick and rename columns. What is further below
   * stays the same object: adaptive execution finds its stages in the plan by that.
   */
  private def merged(list: Seq[NamedExpression], plan: LogicalPlan): LogicalPlan = plan match {
    case Project(lower, child) if lower.forall(ThreadModeStrategy.picksColumn) =>
      merged(CollapseProject.buildCleanedProjectList(list, lower), child)
    case other => Project(list, other)
  }

  private def reused(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case PythonEvaluation(evaluation) =>
      val functions = evaluation.udfs.zip(evaluation.resultAttributes)
      val start = (evaluation.child, Map.empty[ExprId, Attribute])
      val (child, known) = functions.foldLeft(start) {
        case (soFar @ (child, known), (udf, result)) =>
          withResult(udf, child).fold(soFar) { case (below, found) =>
            (below, known + (result.exprId -> found))
          }
      }
      Option.when(known.nonEmpty) {
        val (udfs, results) = functions.filterNot(each => known.contains(each._2.exprId)).unzip
        val others = evaluation.copy(udfs = udfs, resultAttributes = results, child = child)
        val columns = evaluation.output.map { column =>
          known.get(column.exprId).fold[NamedExpression](column) {
            Alias(_, column.name)(exprId = column.exprId)
          }
        }
        Project(columns, if (udfs.isEmpty) child else others.logical)
      }
    case _ => None
  }

  /** The plan with a column that a function has been evaluated to, and this column. */
  private def withResult(udf: PythonUDF, plan: LogicalPlan): Option[(LogicalPlan, Attribute)] =
    plan match {
      case _ if !udf.deterministic => None
      case filter: Filter =>
        withResult(udf, filter.child).map { case (below, found) =>
          (filter.copy(child = below), found)
        }
      case project: Project =>
        // Its arguments may have other names below, or be computed here.
        withResult(under(project, udf), project.child).map { case (below, found) =>
          val list = project.projectList
          (Project(if (list.contains(found)) list else list :+ found, below), found)
        }
      case PythonEvaluation(evaluation) =>
        evaluation.udfs.indexWhere(_.semanticEquals(udf)) match {
          case -1 =>
            withResult(udf, evaluation.child).map { case (below, found) =>
              (plan.withNewChildren(Seq(below)), found)
            }
          case place => Some((plan, evaluation.resultAttributes(place)))
        }
      case _ => None
    }

  private def under(project: Project, udf: PythonUDF): PythonUDF =
    replaceAlias(udf, getAliasMap(project)).asInstanceOf[PythonUDF]
}
