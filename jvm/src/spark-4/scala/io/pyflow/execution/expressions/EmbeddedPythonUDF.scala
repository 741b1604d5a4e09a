package io.pyflow.execution.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.trees.TreePattern.{PYTHON_UDF, TreePattern}
import org.apache.spark.sql.types.DataType

/**
 * Plain Python functions as an expression: each row is a call of its own. It stands where no operator
 * can be, in the lambda of a higher-order function or in the condition of an outer join.
 *
 * All functions are called once, whatever becomes of their results, as those of an operator are; then
 * the body is evaluated, in which a [[PythonResult]] stands for each of their results.
 *
 * @param functions called with one row of `arguments`
 * @param body what is made of the results
 * @param id tells the results of these functions from those of others in the body
 */
case class EmbeddedPythonUDF(
    functions: EmbeddedFunctions,
    arguments: Seq[Expression],
    body: Expression,
    id: ExprId = NamedExpression.newExprId)
  extends Expression
  with NonSQLExpression
  with UserDefinedExpression
  with ConditionalExpression {

  override def name: String = functions.names

  override def children: Seq[Expression] = arguments :+ body

  override def dataType: DataType = body.dataType

  override def nullable: Boolean = body.nullable

  override lazy val deterministic: Boolean =
    functions.deterministic && children.forall(_.deterministic)

  /** The body is evaluated after the functions: no part of it may be taken out and come first. */
  override def alwaysEvaluatedInputs: Seq[Expression] = arguments

  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): EmbeddedPythonUDF =
    copy(arguments = inputs)

  override def branchGroups: Seq[Seq[Expression]] = Nil

  final override val nodePatterns: Seq[TreePattern] = Seq(PYTHON_UDF)

  override lazy val canonicalized: Expression = {
    // Of several within each other, each needs a number of its own.
    val number = ExprId(-1L - children.map(EmbeddedPythonUDF.depth).max)
    copy(
      arguments = arguments.map(_.canonicalized),
      body = body.transform {
        case result: PythonResult if result.of == id =>
          result.copy(of = number)
      }.canonicalized,
      id = number)
  }

  @transient private lazy val values = new GenericInternalRow(arguments.length)

  @transient private lazy val toUnsafe = UnsafeProjection.create(arguments.map(_.dataType).toArray)

  @transient private lazy val bodyOverResults = body.transform {
    case PythonResult(`id`, ordinal, dataType) => EmbeddedResult(functions, ordinal, dataType)
  }

  /** The optimizer may have found that the results do not matter, and then takes the body's value. */
  @transient private lazy val usesResults = body.exists {
    case PythonResult(`id`, _, _) => true
    case _ => false
  }

  override def eval(input: InternalRow): Any = {
    if (usesResults) {
      // A projection of the arguments would copy lambda variables, and with them their values.
      arguments.indices.foreach(i => values.update(i, arguments(i).eval(input)))
      functions.evaluate(toUnsafe(values))
    }
    bodyOverResults.eval(input)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    if (usesResults) callCode(ctx, ev) else body.genCode(ctx)

  private def callCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val row = GenerateUnsafeProjection.createCode(ctx, arguments)
    val results = bodyOverResults.genCode(ctx)
    val python = ctx.addReferenceObj("pythonFunctions", functions)
    ev.copy(
      code = code"""
        ${row.code}
        $python.evaluate(${row.value});
        ${results.code}""",
      isNull = results.isNull,
      value = results.value)
  }

  override def toString: String = {
    val results = body.transform { case PythonResult(`id`, ordinal, dataType) =>
      NamedResult(functions.call(ordinal, arguments), dataType)
    }
    results.toString
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): EmbeddedPythonUDF =
    copy(arguments = newChildren.init, body = newChildren.last)
}

object EmbeddedPythonUDF {

  /** How many such expressions there are within each other. */
  private def depth(expression: Expression): Long = {
    val below = expression.children.map(depth).maxOption.getOrElse(0L)
    if (expression.isInstanceOf[EmbeddedPythonUDF]) below + 1 else below
  }
}

/**
 * A predicate that has a value in tasks only. Spark evaluates none on the driver, where it chooses the
 * partitions of a table, that may have another value each time.
 */
case class PredicateInTasks(child: Expression) extends TaggingExpression {
  override lazy val deterministic: Boolean = false

  override def toString: String = child.toString

  override protected def withNewChildInternal(newChild: Expression): PredicateInTasks =
    copy(child = newChild)
}

/**
 * What a function returned for the row, in the body of [[EmbeddedPythonUDF]]. It has no value outside
 * of it, which keeps Spark's optimizer from evaluating the functions on the driver.
 */
case class PythonResult(of: ExprId, ordinal: Int, dataType: DataType)
  extends LeafExpression
  with Unevaluable {
  override def nullable: Boolean = true
}

/** A result where the functions have been called. */
private case class EmbeddedResult(functions: EmbeddedFunctions, ordinal: Int, dataType: DataType)
  extends LeafExpression {
  override def nullable: Boolean = true

  override def eval(input: InternalRow): Any = functions.results.get(ordinal, dataType)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val results = s"${ctx.addReferenceObj("pythonFunctions", functions)}.results()"
    val value = CodeGenerator.getValue(results, dataType, ordinal.toString)
    ev.copy(code = code"""
      boolean ${ev.isNull} = $results.isNullAt($ordinal);
      ${CodeGenerator.javaType(dataType)} ${ev.value} =
        ${ev.isNull} ? ${CodeGenerator.defaultValue(dataType)} : $value;""")
  }
}

/** A result as EXPLAIN shows it. */
private case class NamedResult(call: String, dataType: DataType)
  extends LeafExpression
  with Unevaluable {
  override def nullable: Boolean = true

  override def toString: String = call
}
