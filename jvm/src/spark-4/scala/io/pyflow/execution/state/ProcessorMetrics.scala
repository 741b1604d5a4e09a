package io.pyflow.execution.state

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.pyflow.OperatorMetrics

import io.pyflow.bridge.{InterpreterKind, PythonProgram}
import io.pyflow.execution.task.CallMetrics

/** What is measured of a processor that keeps state: by its tasks, and shown by [[ThreadProcessorExec]]. */
case class ProcessorMetrics(byName: Map[String, SQLMetric]) {
  private val calls = CallMetrics(byName)
  private val bundles = byName("bundles")

  val inputRows: SQLMetric = byName("numInputRows")
  val outputRows: SQLMetric = byName("numOutputRows")

  /** Those that the processor itself has left out. */
  val lateRows: SQLMetric = byName("numLateRows")

  def add(program: PythonProgram, interpreter: InterpreterKind): Unit = {
    bundles.add(1)
    calls.add(program.times, interpreter, None)
  }
}

object ProcessorMetrics {
  def create(sparkContext: SparkContext): ProcessorMetrics = {
    def counter(name: String) = SQLMetrics.createMetric(sparkContext, name)
    ProcessorMetrics(
      CallMetrics.create(sparkContext) ++ Map(
        "bundles" -> counter(OperatorMetrics.Bundles),
        "numInputRows" -> counter(OperatorMetrics.InputRows),
        "numOutputRows" -> counter(OperatorMetrics.OutputRows),
        "numLateRows" -> counter(OperatorMetrics.LateRows)))
  }
}
