package io.pyflow.execution

import org.apache.spark.sql.catalyst.expressions.{NamedExpression, PythonFuncExpression}
import org.apache.spark.sql.catalyst.util.truncatedString
import org.apache.spark.sql.execution.{ExplainUtils, SparkPlan}
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter
import org.apache.spark.sql.pyflow.PythonFunctions

import io.pyflow.admission.SharedOnlyFunctions
import io.pyflow.bridge.InterpreterKind
import io.pyflow.config.ThreadModeSettings
import io.pyflow.spec.FunctionsSpec

/** An operator whose functions run in the executor's JVM, as EXPLAIN shows it. */
trait ThreadModeExec extends SparkPlan {
  def functions: Seq[PythonFuncExpression]

  def settings: ThreadModeSettings

  /** Which interpreter the functions run in. */
  protected def interpreter: String = {
    val pickled = functions.flatMap(PythonFunctions.unchain(_)._1)
    ThreadModeExec.interpreter(settings, FunctionsSpec.commandsDigest(pickled))
  }

  /** The output with the names of what it is made of. */
  protected def namedOutput: Seq[NamedExpression] = output

  /** Operators of Spark's may first ask for their metrics in an executor, which cannot make any. */
  override protected def doPrepare(): Unit = {
    metrics
    this match {
      case writer: StateStoreWriter => StoreMetrics.make(writer)
      case _ =>
    }
    super.doPrepare()
  }

  override def simpleString(maxFields: Int): String = {
    def listed(expressions: Seq[Any]) = truncatedString(expressions, "[", ", ", "]", maxFields)
    s"$nodeName ${listed(functions)}, interpreter: $interpreter, output ${listed(namedOutput)}"
  }

  override def verboseStringWithOperatorId(): String = {
    val inputs = children.map(child => ExplainUtils.generateFieldString("Input", child.output))
    s"""$formattedNodeName
       |${inputs.mkString("\n")}
       |${ExplainUtils.generateFieldString("Functions", functions)}
       |Interpreter: $interpreter
       |${ExplainUtils.generateFieldString("Output", namedOutput)}
       |""".stripMargin
  }
}

object ThreadModeExec {

  /**
   * Which interpreter functions of a row each run in, as far as the driver knows. What they import
   * only shows when they have been unpickled, in an executor.
   *
   * @param digest of the functions
   */
  def interpreter(settings: ThreadModeSettings, digest: => String): String =
    if (settings.interpreter == InterpreterKind.SHARED || SharedOnlyFunctions.contains(digest)) {
      "shared"
    } else {
      "isolated or shared"
    }
}
