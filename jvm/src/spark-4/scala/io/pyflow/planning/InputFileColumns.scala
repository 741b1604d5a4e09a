package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

/**
 * Matches a projection or filter over Python functions that asks for the file which a row comes from,
 * and has that computed below the functions: Spark looks it up where the file is being read, and the
 * functions have read further when the rows come out. (In process mode, too: the file is right there
 * only where a task reads no other.)
 */
private[planning] object InputFileColumns {
  def unapply(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case Project(list, Filter(condition, evaluation)) if asked(evaluation, condition +: list) =>
      val columns = new Columns(condition +: list)
      val filter = Filter(columns.in(condition), columns.below(evaluation))
      Some(Project(list.map(columns.in(_)), filter))
    case Project(list, evaluation) if asked(evaluation, list) =>
      val columns = new Columns(list)
      Some(Project(list.map(columns.in(_)), columns.below(evaluation)))
    case Filter(condition, evaluation) if asked(evaluation, Seq(condition)) =>
      val columns = new Columns(Seq(condition))
      Some(Project(plan.output, Filter(columns.in(condition), columns.below(evaluation))))
    case _ => None
  }

  private def asked(evaluation: LogicalPlan, expressions: Seq[Expression]): Boolean =
    evaluates(evaluation) && expressions.exists(_.exists(isOfFile))

  private def evaluates(plan: LogicalPlan): Boolean = plan match {
    case Project(_, input) => evaluates(input)
    case Filter(_, input) => evaluates(input)
    case other => PythonEvaluation.unapply(other).isDefined
  }

  private def isOfFile(expression: Expression): Boolean = expression match {
    case _: InputFileName | _: InputFileBlockStart | _: InputFileBlockLength => true
    case _ => false
  }

  /** One for each of the questions in some expressions. */
  private class Columns(expressions: Seq[Expression]) {
    private val columns =
      expressions.flatMap(_.collect { case each if isOfFile(each) => each }).distinct.map { each =>
        each -> Alias(each, each.prettyName)()
      }

    /** Below the lowest of functions over functions. */
    def below(plan: LogicalPlan): LogicalPlan = plan match {
      case Project(list, input) if evaluates(input) =>
        Project(list ++ columns.map(_._2.toAttribute), below(input))
      case Filter(condition, input) if evaluates(input) => Filter(condition, below(input))
      case evaluation if evaluates(evaluation) =>
        evaluation.withNewChildren(evaluation.children.map(below))
      case input => Project(input.output ++ columns.map(_._2), input)
    }

    def in[E <: Expression](expression: E): E =
      expression.transform { case each if isOfFile(each) => attribute(each) }
        .asInstanceOf[E]

    private def attribute(ofFile: Expression): Attribute =
      columns.collectFirst { case (`ofFile`, alias) => alias.toAttribute }.get
  }
}
