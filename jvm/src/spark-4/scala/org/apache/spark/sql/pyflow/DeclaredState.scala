package org.apache.spark.sql.pyflow

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.{Encoder, Encoders, Row}
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.DriverStatefulProcessorHandleImpl
import org.apache.spark.sql.execution.streaming.state.StateSchemaValidationResult
import org.apache.spark.sql.streaming.TTLConfig
import org.apache.spark.sql.types.StructType

/**
 * PySpark's operator of a processor whose state the plan may know. Where it does not, Spark starts a
 * worker before the first batch of a query, which calls the processor's `init`: about a second, as it
 * compiles PySpark.
 */
trait DeclaredState extends TransformWithStateInPySparkExec {
  override def validateAndMaybeEvolveStateSchema(
      hadoopConf: Configuration,
      batchId: Long,
      stateSchemaVersion: Int): List[StateSchemaValidationResult] =
    OperatorMetadata.stateOf(child.output, output) match {
      case Some(variables) =>
        DeclaredState.declare(variables, DeclaredState.handleOf(this))
        validateAndWriteStateSchema(
          hadoopConf,
          batchId,
          stateSchemaVersion,
          getStateInfo,
          stateSchemaDirPath(),
          session,
          operatorStateMetadataVersion,
          stateStoreEncodingFormat = conf.stateStoreEncodingFormat)
      case None =>
        super.validateAndMaybeEvolveStateSchema(hadoopConf, batchId, stateSchemaVersion)
    }
}

object DeclaredState {

  /** What PySpark's worker asks for in `init`, as TransformWithStateInPySparkStateServer does it. */
  private def declare(
      variables: Seq[Seq[String]],
      handle: DriverStatefulProcessorHandleImpl): Unit = variables.foreach {
    case Seq("value", name, value) => handle.getValueState(name, rows(value), TTLConfig.NONE)
    case Seq("list", name, value) => handle.getListState(name, rows(value), TTLConfig.NONE)
    case Seq("map", name, key, value) =>
      handle.getMapState(name, rows(key), rows(value), TTLConfig.NONE)
    case other => throw new IllegalArgumentException(s"not a state variable: $other")
  }

  private def rows(ddl: String): Encoder[Row] = Encoders.row(StructType.fromDDL(ddl))

  private def handleOf(operator: DeclaredState): DriverStatefulProcessorHandleImpl =
    PrivateFields.get(operator, classOf[TransformWithStateInPySparkExec], "driverProcessorHandle")
}
