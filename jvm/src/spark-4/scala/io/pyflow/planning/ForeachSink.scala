package io.pyflow.planning

import scala.annotation.nowarn

import org.apache.spark.sql.catalyst.expressions.PythonUDF
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.write.{BatchWrite, PhysicalWriteInfo}
import org.apache.spark.sql.execution.datasources.v2.WriteToDataSourceV2
import org.apache.spark.sql.execution.python.streaming.PythonForeachWriter
import org.apache.spark.sql.execution.streaming.sources.{ForeachWriterFactory, MicroBatchWrite}
import org.apache.spark.sql.pyflow.{PickledFunction, PythonFunctions, PythonSinks}
import org.apache.spark.sql.types.NullType

import io.pyflow.admission.FunctionIdentity
import io.pyflow.config.ThreadModeSettings
import io.pyflow.execution.sources.ThreadForeachWrite
import io.pyflow.spec.ConsumerSpec

/**
 * Matches a batch of a stream that goes to a Python function by `foreach`, and makes it one in thread
 * mode. Spark writes all batches of streams with a plan that it otherwise calls deprecated.
 */
@nowarn("cat=deprecation")
private[planning] object ForeachSink {
  def unapply(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case sparks @ WriteToDataSourceV2(_, write: MicroBatchWrite, query, _) =>
      writerOf(write).map(writer => sparks.copy(batchWrite = inThread(writer, write, query)))
    case _ => None
  }

  /** Not every version of Spark has the table of the sink in the plan. */
  private def writerOf(write: MicroBatchWrite): Option[PythonForeachWriter] =
    Option.when(write.writeSupport.getClass.getName.startsWith(Sink))(write).flatMap { write =>
      write.writeSupport.createStreamingWriterFactory(NoPartitions) match {
        case factory: ForeachWriterFactory[_] =>
          Option(factory.writer: Any).collect { case writer: PythonForeachWriter => writer }
        case _ => None
      }
    }

  /** What the names of the classes of the sink begin with. */
  private val Sink = s"${classOf[ForeachWriterFactory[_]].getPackageName}.ForeachWrite"

  private val NoPartitions: PhysicalWriteInfo = () => 0

  private def inThread(
      writer: PythonForeachWriter,
      write: MicroBatchWrite,
      rows: LogicalPlan): BatchWrite = {
    val function = PythonSinks.functionOf(writer)
    val schema = PythonSinks.schemaOf(writer)
    val evalType = PythonFunctions.ConsumerEvalType
    val udf =
      PythonUDF("foreach", function, NullType, rows.output, evalType, udfDeterministic = false)
    def writing(settings: ThreadModeSettings): BatchWrite = {
      val spec = new ConsumerSpec(udf.name, new PickledFunction(function), schema, settings.worker)
      val bundled = RealTimeScan.oneByOne(settings, rows)
      new ThreadForeachWrite(write, spec, FunctionIdentity.of(udf), bundled)
    }
    if (RealTimeScan.isBelow(rows)) RealTimeStrategy.plannedWrite(udf)(writing)
    else ThreadModeStrategy.plannedWrite(udf, write)(writing)
  }
}
