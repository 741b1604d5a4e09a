package io.pyflow.admission

import java.security.MessageDigest
import java.util.HexFormat

import org.apache.spark.sql.catalyst.expressions.PythonFuncExpression
import org.apache.spark.sql.pyflow.{PickledFunction, PythonFunctions}

/** A function by its name and the digest of its pickled code, which tells it from all others. */
case class FunctionIdentity(name: String, digest: String)

object FunctionIdentity {

  /** The functions that a UDF chains, outermost first, recognisable in any query. */
  def of(udf: PythonFuncExpression): Seq[FunctionIdentity] =
    PythonFunctions.chained(udf).map { part =>
      val command = new PickledFunction(part.func).command
      val digest = MessageDigest.getInstance("SHA-256").digest(command)
      FunctionIdentity(part.name, HexFormat.of().formatHex(digest))
    }
}
