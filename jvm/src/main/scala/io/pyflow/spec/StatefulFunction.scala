package io.pyflow.spec

import org.apache.spark.sql.types._
import org.json4s.JsonAST._

/**
 * What makes a function a processor that keeps state: the class of a user, of which Python has an
 * object for each task.
 *
 * @param rowSchema of the rows of a group
 * @param initialSchema of the rows of the initial state, if there is any
 * @param watermark in milliseconds, where the query has one
 */
case class StatefulFunction(
    keySchema: StructType,
    rowSchema: StructType,
    initialSchema: Option[StructType],
    watermark: Option[Long],
    timeZone: String) {

  private[spec] def toJson: JObject = JObject(
    "key_schema" -> JString(keySchema.json),
    "row_schema" -> JString(rowSchema.json),
    "initial_schema" -> initialSchema.fold[JValue](JNull)(schema => JString(schema.json)),
    "watermark" -> JInt(BigInt(watermark.getOrElse(-1L))),
    "time_zone" -> JString(timeZone))
}

object StatefulFunction {

  // What a call is for: numbers of pyflow/thread_mode/stateful.py.
  val Init = 0
  val Rows = 1
  val InitialState = 2
  val Timer = 3
  val Close = 4
  val RowsOfKeys = 5

  /** What it is called with: times in milliseconds, -1 where there is none. */
  def input(keySchema: StructType): StructType = new StructType()
    .add("operation", IntegerType, nullable = false)
    .add("key", keySchema)
    .add("processing_time", LongType, nullable = false)
    .add("expiry", LongType, nullable = false)
}
