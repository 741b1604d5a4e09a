package io.pyflow.execution

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{NamedExpression, PythonFuncExpression}
import org.apache.spark.sql.catalyst.util.truncatedString
import org.apache.spark.sql.execution.{ExplainUtils, SparkPlan}

import io.pyflow.config.ThreadModeSettings

/** An operator whose functions run in the executor's JVM, as EXPLAIN shows it. */
trait ThreadModeExec extends SparkPlan {
  def functions: Seq[PythonFuncExpression]

  def settings: ThreadModeSettings

  /** Which interpreter the functions run in. */
  protected def interpreter: String = settings.interpreter.name.toLowerCase(Locale.ROOT)

  /** The output with the names of what it is made of. */
  protected def namedOutput: Seq[NamedExpression] = output

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
