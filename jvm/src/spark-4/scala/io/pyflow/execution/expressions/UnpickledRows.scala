package io.pyflow.execution.expressions

import scala.jdk.CollectionConverters.ListHasAsScala

import net.razorvine.pickle.Unpickler
import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.execution.python.EvaluatePython
import org.apache.spark.sql.types.{BinaryType, DataType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The rows of a pickled list of tuples, which are converted as the results of functions are.
 *
 * Spark's workers make an Arrow batch for each key of an operator with state. With a single column
 * that costs a quarter of what it costs with as many as rows of streams have.
 */
case class UnpickledRows(child: Expression, elementSchema: StructType)
  extends UnaryExpression
  with Generator
  with CodegenFallback
  with NonSQLExpression {

  @transient private lazy val unpickler = {
    EvaluatePython.registerPicklers()
    new Unpickler
  }

  @transient private lazy val fromPython = EvaluatePython.makeFromJava(elementSchema)

  override def eval(input: InternalRow): IterableOnce[InternalRow] =
    unpickler.loads(child.eval(input).asInstanceOf[Array[Byte]]) match {
      case rows: java.util.List[_] =>
        rows.asScala.iterator.map(row => fromPython(row).asInstanceOf[InternalRow])
      case other => throw SparkException.internalError(s"not a list of rows: $other")
    }

  override protected def withNewChildInternal(newChild: Expression): UnpickledRows =
    copy(child = newChild)
}

object UnpickledRows {

  /** The name of the function in SQL: of a schema in JSON, and of the pickled rows. */
  val Name: String = "pyflow_unpickled_rows"

  def of(arguments: Seq[Expression]): Expression = arguments match {
    case Seq(Literal(json: UTF8String, StringType), rows) if rows.dataType == BinaryType =>
      UnpickledRows(rows, DataType.fromJson(json.toString).asInstanceOf[StructType])
    case _ => throw new IllegalArgumentException(s"$Name takes a schema and pickled rows")
  }
}
