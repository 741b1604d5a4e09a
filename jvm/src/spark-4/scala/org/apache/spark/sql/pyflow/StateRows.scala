package org.apache.spark.sql.pyflow

import org.apache.spark.sql.api.python.PythonSQLUtils
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.{ExpressionEncoder, RowEncoder}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker
import org.apache.spark.sql.types.{DataType, ObjectType, StructType}

/** Rows of a state variable or of grouping keys. */
object StateRows {

  /**
   * Has Spark keep such rows as they are. They lie in the store as those do that Spark's encoder for
   * `Row` makes.
   */
  def encoder(schema: StructType): ExpressionEncoder[UnsafeRow] = {
    val row = BoundReference(0, schema, nullable = false)
    val fields = schema.fields.toSeq.zipWithIndex.flatMap { case (field, i) =>
      Seq(Literal(field.name), GetStructField(row, i, Some(field.name)))
    }
    ExpressionEncoder(RowEncoder.encoderFor(schema), CreateNamedStruct(fields), RowItself)
      .asInstanceOf[ExpressionEncoder[UnsafeRow]]
  }

  /** Makes rows of what Python pickled, as Spark's state server does. */
  class FromPython(schema: StructType) {
    private val encoder = ExpressionEncoder(RowEncoder.encoderFor(schema))
    private val toRow = encoder.resolveAndBind().createDeserializer()
    private val toUnsafe = encoder.createSerializer()

    def apply(pickled: Array[Byte]): UnsafeRow =
      toUnsafe(PythonSQLUtils.toJVMRow(pickled, schema, toRow)).asInstanceOf[UnsafeRow]
  }

  /** Spark keeps the key that state belongs to for each thread. */
  def setKey(key: UnsafeRow): Unit = ImplicitGroupingKeyTracker.setImplicitKey(key)

  def removeKey(): Unit = ImplicitGroupingKeyTracker.removeImplicitKey()

  /**
   * Does something for a key, if one is given; afterwards the thread has the key it had before, whatever
   * keys have been set meanwhile.
   */
  def withKey[T](key: Option[UnsafeRow])(work: => T): T = {
    val before = ImplicitGroupingKeyTracker.getImplicitKeyOption
    key.foreach(setKey)
    try work
    finally before.fold(removeKey())(ImplicitGroupingKeyTracker.setImplicitKey)
  }
}

/**
 * The row that an expression is evaluated for, an UnsafeRow, as an object. It is a copy: Spark uses one
 * row for all that it decodes.
 */
case object RowItself extends LeafExpression {
  override def nullable: Boolean = false

  override def dataType: DataType = ObjectType(classOf[UnsafeRow])

  override def eval(input: InternalRow): Any = input.asInstanceOf[UnsafeRow].copy()

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val rowType = classOf[UnsafeRow].getName
    ev.copy(
      code = code"$rowType ${ev.value} = (($rowType) ${ctx.INPUT_ROW}).copy();",
      isNull = FalseLiteral)
  }
}
