package io.pyflow.spec

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.pyflow.PythonFunctions
import org.apache.spark.sql.types.{StructField, StructType}

import io.pyflow.config.WorkerSettings
import io.pyflow.spec.BoundArguments.isSame

/**
 * An operator's functions bound to the rows of its child.
 *
 * @param projection the columns to make of a child row; None if it goes to Python as it is
 * @param inputSchema the columns that Python gets
 */
class RowBinding private (
    val childOutput: Seq[Attribute],
    val projection: Option[Seq[Expression]],
    inputSchema: StructType,
    calls: Seq[PythonCall],
    output: Seq[OutputColumn])
  extends Serializable {

  def spec(evalType: Int, settings: WorkerSettings): ProgramSpec =
    new ProgramSpec(evalType, inputSchema, calls, output, settings)
}

object RowBinding {

  def bind(
      udfs: Seq[PythonUDF],
      results: Seq[Attribute],
      outputExpressions: Seq[NamedExpression],
      childOutput: Seq[Attribute]): RowBinding = {
    val (chains, arguments) = udfs.map(PythonFunctions.unchain).unzip
    val columns = outputExpressions.map {
      case Alias(column: Attribute, _) => column
      case column => column.toAttribute
    }
    val resultIds = results.map(_.exprId)
    val passedThrough = columns.filterNot(column => resultIds.contains(column.exprId))
    val values = arguments.flatten.map {
      case NamedArgumentExpression(_, value) => value
      case value => value
    }
    val needed = distinct(passedThrough ++ values)
    val asItIs = coversAll(needed, childOutput)
    val input = if (asItIs) childOutput else needed

    def ordinal(value: Expression): Int = {
      val found = input.indexWhere(isSame(_, value))
      require(found >= 0, s"$value is not among the columns ${input.mkString(", ")}")
      found
    }

    val calls = udfs.lazyZip(chains).lazyZip(arguments).map { (udf, chain, expressions) =>
      val bound = expressions.map {
        case NamedArgumentExpression(keyword, value) => Argument(ordinal(value), Some(keyword))
        case value => Argument(ordinal(value), None)
      }
      PythonCall(PythonFunctions.nameOf(udf), chain, bound, udf.resultId.id)
    }
    val output = columns.map { column =>
      resultIds.indexOf(column.exprId) match {
        case -1 => PassThrough(ordinal(column), !UnsafeRow.isFixedLength(column.dataType))
        case call => CallResult(call)
      }
    }
    val inputSchema = StructType(input.zipWithIndex.map { case (value, i) =>
      StructField(s"_$i", value.dataType, value.nullable)
    })
    new RowBinding(childOutput, Option.unless(asItIs)(needed), inputSchema, calls, output)
  }

  private def distinct(expressions: Seq[Expression]): Seq[Expression] =
    expressions
      .foldLeft(ArrayBuffer.empty[Expression]) { (kept, expression) =>
        if (kept.exists(isSame(_, expression))) kept else kept += expression
      }
      .toSeq

  private def coversAll(needed: Seq[Expression], childOutput: Seq[Attribute]): Boolean = {
    val attributes = AttributeSet(needed.collect { case column: Attribute => column })
    needed.forall(_.isInstanceOf[Attribute]) && childOutput.forall(attributes.contains)
  }
}
