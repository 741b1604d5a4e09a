package io.pyflow.planning

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, BindReferences, GetStructField, NamedExpression, PythonUDF}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan}
import org.apache.spark.sql.execution.python.GroupedInput
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.{FunctionMetrics, OperatorMetadata, PythonFunctions, StateRows}
import org.apache.spark.sql.types.{CalendarIntervalType, DataType, DayTimeIntervalType, NullType, StructType, TimeType, UserDefinedType, VariantType, YearMonthIntervalType}

import io.pyflow.admission.FunctionIdentity
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.state.{ControlRowsExec, ProcessorMetrics, PythonStatefulProcessor, ThreadProcessorExec}
import io.pyflow.spec.{ProgramSpec, StatefulFunction}

/**
 * `transformWithState` over rows. In thread mode it is Spark's operator for processors of the JVM, so
 * that timers, expiry, the initial state and batches are Spark's own.
 *
 * It is put in the place of PySpark's operator after the latter has got its number and its watermark,
 * and after its metadata and schemas have been written: a query can stop in one mode and go on in the
 * other.
 */
private[planning] class StatefulOperator(
    inPySpark: TransformWithStateInPySparkExec,
    udf: PythonUDF) {
  import inPySpark._

  // A row of a group has the columns of the grouping, where they are not among the others, and all
  // others.
  private val rowAttributes = GroupedInput(child.output, groupingAttributes).columns
  private val initialAttributes =
    GroupedInput(initialState.output, initialStateGroupingAttrs).columns

  private val isRealTime = RealTimeScan.isBelow(child)

  /** One of two operators, by whether the processor can run in thread mode. */
  def planned(onChildren: SparkPlan => SparkPlan): SparkPlan = {
    val inProcess = onChildren(inPySpark).asInstanceOf[TransformWithStateInPySparkExec]
    def thread = inThread(inProcess, ThreadModeStrategy.settings(udf, udf.evalType))
    processModeReason match {
      case Some(reason) if isRealTime => throw new RealTimeModeRefusalException(udf.name, reason)
      case Some(reason) => ProcessModeFallback(Seq(udf.toString), reason, udf.name, inProcess)
      // RealTimeStrategy has asked whether it can.
      case None if isRealTime => thread
      case None => ThreadModeStrategy.planned(Seq(udf), udf.evalType)(thread, inProcess).head
    }
  }

  private def processModeReason: Option[String] = {
    val attributes = rowAttributes ++ (if (hasInitialState) initialAttributes else Nil)
    val unsupported =
      attributes.map(_.dataType).find(StatefulOperator.isUnsupported).map { dataType =>
        s"thread mode has no conversion for type ${dataType.simpleString} in the rows of a " +
          "processor that keeps state"
      }
    // It is asked for in the first batch only.
    unsupported.orElse(Option.when(isRealTime && hasInitialState) {
      "Spark has no first batch with the initial state of a Python processor there. Run the first " +
        s"batch in micro-batches, with ${SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key}=2, and " +
        "go on from its checkpoint in real-time mode"
    })
  }

  private def inThread(
      operator: TransformWithStateInPySparkExec,
      settings: ThreadModeSettings): SparkPlan = {
    val outputSchema = DataTypeUtils.fromAttributes(output)
    val made = AttributeReference("output", outputSchema, nullable = false)()
    val keySchema = StructType(
      groupingAttributes.map(a => DataTypeUtils.fromAttributes(Seq(a)).head))
    val measured = ProcessorMetrics.create(inPySpark.session.sparkContext)
    val inJvm = processor(
      keySchema,
      outputSchema,
      settings,
      operator.child.isInstanceOf[ControlRowsExec],
      measured)
    val transform = JvmTransformWithState(
      operator,
      inJvm,
      StateRows.encoder(keySchema).asInstanceOf[ExpressionEncoder[Any]],
      made,
      watermark,
      isRealTime)
    // Spark allows no operators in real-time mode but its own.
    val shown =
      if (isRealTime) transform
      else ThreadProcessorExec(name, inJvm.interpreter, measured, transform)
    ProjectExec(StatefulOperator.columnsOf(made, output), shown)
  }

  /** What the Table API or a data stream calls it. */
  private def name: String =
    OperatorMetadata.nameOf(child.output, output).getOrElse(udf.name)

  /** A batch has none, which PySpark's operator takes for -1 and that for the JVM refuses. */
  private def watermark: Option[Long] =
    if (isStreaming) eventTimeWatermarkForEviction
    else Some(StatefulOperator.NoWatermark)

  private def processor(
      keySchema: StructType,
      outputSchema: StructType,
      settings: ThreadModeSettings,
      bundlesKeys: Boolean,
      measured: ProcessorMetrics): PythonStatefulProcessor = {
    val function = StatefulFunction(
      keySchema,
      DataTypeUtils.fromAttributes(rowAttributes),
      Option.when(hasInitialState)(DataTypeUtils.fromAttributes(initialAttributes)),
      eventTimeWatermarkForEviction,
      SQLConf.get.sessionLocalTimeZone)
    val otherwise =
      if (isRealTime) {
        "It keeps state in real-time mode, where process mode has no Python functions."
      } else {
        PythonStatefulProcessor.StartedAgain
      }
    new PythonStatefulProcessor(
      ProgramSpec(udf, function, settings.worker),
      keySchema,
      FunctionIdentity.of(udf),
      settings,
      FunctionMetrics(inPySpark.session.sparkContext),
      measured,
      outputSchema,
      BindReferences.bindReferences(rowAttributes, child.output),
      if (hasInitialState) BindReferences.bindReferences(initialAttributes, initialState.output)
      else Nil,
      batchTimestampMs,
      bundlesKeys,
      otherwise)
  }
}

private[planning] object StatefulOperator {
  private val NoWatermark = -1L

  /** The fields of a struct as the columns of an operator. */
  def columnsOf(struct: Attribute, columns: Seq[Attribute]): Seq[NamedExpression] =
    columns.zipWithIndex.map { case (column, i) =>
      Alias(GetStructField(struct, i), column.name)(
        column.exprId,
        column.qualifier,
        Some(column.metadata))
    }

  def unapply(plan: SparkPlan): Option[StatefulOperator] = plan match {
    case stateful: TransformWithStateInPySparkExec =>
      stateful.functionExpr match {
        case udf: PythonUDF if PythonFunctions.keepsStateOverRows(udf.evalType) =>
          Some(new StatefulOperator(stateful, udf))
        case _ => None
      }
    case _ => None
  }

  /** What pyarrow makes Python values of that the row lane knows no way to. */
  private def isUnsupported(dataType: DataType): Boolean = ProcessModeReason.contains(dataType) {
    case _: UserDefinedType[_] | VariantType | NullType | CalendarIntervalType => true
    case _: DayTimeIntervalType | _: YearMonthIntervalType | _: TimeType => true
    case _ => false
  }
}
