package io.pyflow.planning

import org.apache.spark.sql.catalyst.expressions.{Expression, PythonUDF}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.write.{BatchWrite, Write}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.execution.datasources.v2._
import org.apache.spark.sql.execution.datasources.v2.python.{PythonScan, PythonStreamingWrite, PythonWrite, UserDefinedPythonDataSource}
import org.apache.spark.sql.execution.python.streaming.{FlatMapGroupsInPandasWithStateExec, TransformWithStateInPySparkExec}
import org.apache.spark.sql.execution.streaming.sources.MicroBatchWrite
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.pyflow.{PythonFunctions, PythonSources}
import org.apache.spark.sql.types.NullType

import io.pyflow.config.{PyFlowConf, ThreadModeSettings}
import io.pyflow.execution.fallback.ProcessModeExec
import io.pyflow.execution.sources.PythonSource
import io.pyflow.execution.state.{ThreadFlatMapGroupsInPandasWithStateExec, ThreadTransformWithStateInPandasExec}

/**
 * Python operators that Spark plans without a strategy of ours: scans and writes of Python data
 * sources, which get readers and writers in thread mode; and what keeps state in a stream, whose
 * operators are replaced when Spark has numbered them.
 */
object SourceAndStateOperators extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = Planned

  private object Planned extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan =
      if (PyFlowConf.isProcessMode(SQLConf.get)) plan else planned(plan)

    private def planned(plan: SparkPlan): SparkPlan = plan match {
      case noted: ProcessModeExec => noted.copy(child = onChildren(noted.child))
      case StatefulOperator(stateful) => stateful.planned(onChildren)
      case stateful: FlatMapGroupsInPandasWithStateExec =>
        val inProcess = onChildren(stateful).asInstanceOf[FlatMapGroupsInPandasWithStateExec]
        withState(stateful.functionExpr, inProcess) {
          ThreadFlatMapGroupsInPandasWithStateExec(inProcess, _, inProcess.child)
        }
      case stateful: TransformWithStateInPySparkExec =>
        val inProcess = onChildren(stateful).asInstanceOf[TransformWithStateInPySparkExec]
        withState(stateful.functionExpr, inProcess) {
          ThreadTransformWithStateInPandasExec(
            inProcess,
            _,
            inProcess.child,
            inProcess.initialState)
        }
      case scan: BatchScanExec => ofScan(scan)
      case append: AppendDataExec =>
        val inProcess = append.copy(query = planned(append.query))
        ofWrite(append.write, inProcess)(write => inProcess.copy(write = write))
      case overwrite: OverwriteByExpressionExec =>
        val inProcess = overwrite.copy(query = planned(overwrite.query))
        ofWrite(overwrite.write, inProcess)(write => inProcess.copy(write = write))
      case scan: MicroBatchScanExec => ofScan(scan)
      case sink: WriteToDataSourceV2Exec =>
        val inProcess = sink.copy(query = planned(sink.query))
        inProcess.copy(batchWrite = ofBatchWrite(sink.batchWrite))
      case other => onChildren(other)
    }

    /** What takes data frames and keeps state. */
    private def withState(function: Expression, inProcess: SparkPlan)(
        inThread: ThreadModeSettings => SparkPlan): SparkPlan = function match {
      case udf: PythonUDF =>
        ThreadModeStrategy
          .planned(Seq(udf), udf.evalType)(
            inThread(ThreadModeStrategy.settings(udf, udf.evalType)),
            inProcess)
          .head
      case _ => inProcess
    }

    private def ofScan(scan: BatchScanExec): SparkPlan = scan.scan match {
      case source: PythonScan =>
        ofSource(scan.table.name(), PythonSources.of(source), scan) { inThread =>
          scan.copy(scan = inThread.reading(source))
        }
      case _ => scan
    }

    private def ofScan(scan: MicroBatchScanExec): SparkPlan = scan.scan match {
      case source: PythonScan =>
        ofSource(PythonSources.nameOf(source), PythonSources.of(source), scan) {
          _.reading(source, scan)
        }
      case _ => scan
    }

    private def ofWrite(write: Write, inProcess: SparkPlan)(
        inThread: Write => SparkPlan): SparkPlan = write match {
      case python: PythonWrite =>
        ofSource(python.toString, PythonSources.of(python), inProcess) { source =>
          inThread(source.writing(python))
        }
      case _ => inProcess
    }

    private def ofBatchWrite(write: BatchWrite): BatchWrite = write match {
      case batch: MicroBatchWrite =>
        batch.writeSupport match {
          case python: PythonStreamingWrite =>
            val source = PythonSources.of(python)
            val cls = classOf(PythonSources.nameOf(python), source)
            ThreadModeStrategy.plannedWrite(cls, batch) { settings =>
              new PythonSource(source, cls, settings).writing(batch)
            }
          case _ => batch
        }
      case other => other
    }

    private def ofSource(name: String, source: UserDefinedPythonDataSource, inProcess: SparkPlan)(
        inThread: PythonSource => SparkPlan): SparkPlan = {
      val cls = classOf(name, source)
      ThreadModeStrategy
        .planned(Seq(cls), cls.evalType)(
          inThread(new PythonSource(source, cls, ThreadModeStrategy.settings(cls, cls.evalType))),
          inProcess)
        .head
    }

    /** The class of a data source, as a function that the driver knows. */
    private def classOf(name: String, source: UserDefinedPythonDataSource): PythonUDF =
      PythonUDF(
        name,
        source.dataSourceCls,
        NullType,
        Nil,
        PythonFunctions.MapEvalType,
        udfDeterministic = false)

    private def onChildren(plan: SparkPlan): SparkPlan =
      plan.withNewChildren(plan.children.map(planned))
  }
}
