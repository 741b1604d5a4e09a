package io.pyflow.planning

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{ConvertToLocalRelation, PropagateEmptyRelation}
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LeafNode, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{FILTER, LAMBDA_FUNCTION, PYTHON_UDF}
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.{PythonErrors, PythonFunctions}

import io.pyflow.config.PyFlowConf
import io.pyflow.execution.expressions.{EmbeddedPythonUDF, PredicateInTasks, PythonResult}
import io.pyflow.spec.BoundArguments

/**
 * Lets the lambdas of higher-order functions call plain Python functions. Spark's analyzer refuses
 * them: its Python operators evaluate rows, not the elements of arrays and maps.
 */
object PythonInLambdas extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveExpressionsWithPruning(_.containsAllPatterns(PYTHON_UDF, LAMBDA_FUNCTION)) {
      case function: HigherOrderFunction if function.resolved => embedded(function)
    }

  /** Lambdas within lambdas come first: their functions are called for their own elements. */
  private def embedded(function: HigherOrderFunction): Expression =
    function.transformUpWithPruning(_.containsAllPatterns(PYTHON_UDF, LAMBDA_FUNCTION)) {
      case lambda: LambdaFunction => lambda.copy(function = embedding.in(lambda.function))
    }

  private def embedding: Embedding = new Embedding(
    "UNSUPPORTED_FEATURE.LAMBDA_FUNCTION_WITH_PYTHON_UDF",
    udf => Map("funcName" -> s"\"${toPrettySQL(udf)}\""))(_ => true)
}

/**
 * Lets the conditions of joins call plain Python functions with columns of both sides, where Spark
 * cannot filter after the join instead: it refuses them in all but inner joins.
 *
 * Comes when the optimizer knows what kinds of joins there are, before it extracts Python functions.
 */
object PythonInJoins extends Rule[LogicalPlan] with PredicateHelper {

  /** Rewrites a condition whose functions may need both sides of a join. */
  private type Rewrite = (Expression, String, PythonUDF => Boolean) => Expression

  override def apply(plan: LogicalPlan): LogicalPlan =
    // Joins with an empty side disappear before Spark looks at their conditions.
    if (isNeeded(plan) && isNeeded(PropagateEmptyRelation(ConvertToLocalRelation(plan)))) {
      rewritten(plan)(embed)
    } else {
      plan
    }

  private def isNeeded(plan: LogicalPlan): Boolean = {
    var found = false
    rewritten(plan) { (condition, _, needsBoth) =>
      found ||= calls(condition, needsBoth)
      condition
    }
    found
  }

  private def embed(
      condition: Expression,
      joinType: String,
      needsBoth: PythonUDF => Boolean): Expression = {
    // Each of the others may be what Spark joins by.
    val (python, others) = splitConjunctivePredicates(condition).partition(calls(_, needsBoth))
    val embedding = new Embedding(
      "UNSUPPORTED_FEATURE.PYTHON_UDF_IN_ON_CLAUSE",
      _ => Map("joinType" -> joinType))(needsBoth)
    (others ++ python.reduceOption(And).map(embedding.in)).reduce(And)
  }

  private def calls(condition: Expression, needsBoth: PythonUDF => Boolean): Boolean =
    condition.exists {
      case udf: PythonUDF => needsBoth(udf)
      case _ => false
    }

  private def rewritten(plan: LogicalPlan)(rewrite: Rewrite): LogicalPlan =
    plan.transformWithPruning(_.containsPattern(PYTHON_UDF)) {
      case join @ Join(left, right, joinType, Some(condition), _)
          if !joinType.isInstanceOf[InnerLike] =>
        join.copy(condition = Some(rewrite(condition, joinType.sql, needsBoth(left, right))))
      case filter: Filter =>
        val predicates = splitConjunctivePredicates(filter.condition).map {
          case exists: Exists => inSubquery(exists, LeftSemi.sql)(rewrite)
          case in: InSubquery => inSubquery(in, LeftSemi.sql)(rewrite)
          case Not(exists: Exists) => Not(inSubquery(exists, LeftAnti.sql)(rewrite))
          case Not(in: InSubquery) => Not(inSubquery(in, LeftAnti.sql)(rewrite))
          case other => inSubquery(other, "EXISTENCE")(rewrite)
        }
        filter.copy(condition = predicates.reduce(And))
    }

  /** A predicate with subqueries, which become joins later; their conditions are rewritten here. */
  private def inSubquery(predicate: Expression, joinType: String)(rewrite: Rewrite): Expression =
    predicate.transformWithPruning(_.containsPattern(PYTHON_UDF)) {
      case exists: Exists =>
        exists.copy(joinCond = exists.joinCond.map(rewrite(_, joinType, needsOuter(exists.plan))))
      case list: ListQuery =>
        list.copy(joinCond = list.joinCond.map(rewrite(_, joinType, needsOuter(list.plan))))
    }

  private def needsBoth(left: LogicalPlan, right: LogicalPlan)(udf: PythonUDF): Boolean =
    PythonUDF.isScalarPythonUDF(udf) && !canEvaluate(udf, left) && !canEvaluate(udf, right)

  private def needsOuter(subquery: LogicalPlan)(udf: PythonUDF): Boolean = {
    val (inner, outer) = udf.references.partition(subquery.outputSet.contains)
    PythonUDF.isScalarPythonUDF(udf) && inner.nonEmpty && outer.nonEmpty
  }
}

/**
 * Keeps predicates with functions in lambdas in the executors, where they are over the columns of a
 * table that Spark chooses partitions by.
 *
 * Comes when they have been pushed down to the table. Later ones are put to them, as Spark would have
 * done: it chooses partitions by the predicates next to the table only.
 */
object PythonInPredicates extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsAllPatterns(FILTER, PYTHON_UDF)) {
      case Filter(condition, table: LeafNode) => Filter(inTasks(condition), table)
      case Filter(later, Filter(condition, table: LeafNode))
          if later.deterministic && hasPredicateInTasks(condition) =>
        Filter(And(condition, inTasks(later)), table)
    }

  private def inTasks(condition: Expression): Expression =
    splitConjunctivePredicates(condition).map {
      case python if python.deterministic && python.exists(_.isInstanceOf[EmbeddedPythonUDF]) =>
        PredicateInTasks(python)
      case other => other
    }.reduce(And)

  private def hasPredicateInTasks(condition: Expression): Boolean =
    splitConjunctivePredicates(condition).exists(_.isInstanceOf[PredicateInTasks])
}

/**
 * Puts calls of plain Python functions into expressions.
 *
 * @param refusal the error of Spark's for such a function there
 * @param parameters of the error
 * @param takes which functions are called there; others are Spark's to place
 */
private class Embedding(refusal: String, parameters: PythonUDF => Map[String, String])(
    takes: PythonUDF => Boolean) {

  /** The expression with all of those functions called in it, innermost ones first. */
  def in(expression: Expression): Expression = {
    val found = callable(expression)
    if (found.isEmpty) expression else calling(found, expression)
  }

  private def calling(found: Seq[PythonUDF], expression: Expression): Expression = {
    val evalType = evalTypeOf(found.head)
    val udfs = distinct(found.filter(evalTypeOf(_) == evalType))
    check(udfs, evalType)
    val id = NamedExpression.newExprId
    val body = expression.transformDown {
      case udf: PythonUDF if udfs.exists(isSame(_, udf)) =>
        PythonResult(id, udfs.indexWhere(isSame(_, udf)), udf.dataType)
    }
    val bound = BoundArguments(udfs)
    EmbeddedPythonUDF(Embedded.functions(udfs, evalType, bound), bound.values, in(body), id)
  }

  /** Functions none of whose arguments is yet to come from Python, but in a chain. */
  private def callable(expression: Expression): Seq[PythonUDF] = expression match {
    case udf: PythonUDF if takes(udf) && isChain(udf) => Seq(udf)
    case other => other.children.flatMap(callable)
  }

  private def isChain(udf: PythonUDF): Boolean = udf.children match {
    case Seq(inner: PythonUDF) if evalTypeOf(inner) == evalTypeOf(udf) => isChain(inner)
    case arguments =>
      !arguments.exists(_.exists {
        case inner: PythonUDF => takes(inner)
        case _ => false
      })
  }

  private def evalTypeOf(udf: PythonUDF): Int =
    PythonUDF.correctEvalType(udf, SQLConf.get.pythonUDFArrowFallbackOnUDT)

  private def distinct(udfs: Seq[PythonUDF]): Seq[PythonUDF] =
    udfs.foldLeft(Vector.empty[PythonUDF]) { (kept, udf) =>
      if (kept.exists(isSame(_, udf))) kept else kept :+ udf
    }

  /** A nondeterministic function is the same only where it is the same column. */
  private def isSame(one: PythonUDF, other: PythonUDF): Boolean =
    one == other || one.semanticEquals(other)

  private def check(udfs: Seq[PythonUDF], evalType: Int): Unit = {
    val conf = SQLConf.get
    if (!PythonFunctions.takesRows(evalType)) {
      refuse(udfs.head, "It takes batches of rows, and is called with one row at a time there.")
    } else if (PyFlowConf.isProcessMode(conf)) {
      refuse(
        udfs.head,
        s"In thread mode it can be called there: set ${PyFlowConf.EXECUTION_MODE.key}=thread.")
    } else {
      ProcessModeReason.of(udfs, evalType, conf, SparkEnv.get.conf, canLeave = false).foreach {
        reason =>
          refuse(
            udfs.head,
            s"It can be called there in thread mode only, where it cannot run: $reason.")
      }
    }
  }

  private def refuse(udf: PythonUDF, why: String): Nothing =
    throw PythonErrors.refused(refusal, parameters(udf), why)
}
