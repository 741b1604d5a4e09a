package io.pyflow.connectors

import org.apache.spark.sql.types.{DataType, StructType}
import org.json4s.{DefaultFormats, Formats, JValue}
import org.json4s.jackson.JsonMethods

/**
 * What a lookup asks which database.
 *
 * @param table the table's name, for errors
 * @param options of Spark's JDBC source
 * @param statement a SELECT with a parameter for each key
 * @param schema of its rows, as Spark's source reads them
 * @param retries how often it is asked again after an error
 * @param cache of what it has found; None to ask each time
 */
case class JdbcLookupSpec(
    table: String,
    options: Map[String, String],
    statement: String,
    schema: StructType,
    retries: Int,
    cache: Option[LookupCacheSpec]) {

  /** Without the options, which have a password. */
  override def toString: String = table
}

/**
 * How long rows of a lookup are kept.
 *
 * @param id tells the cache of a lookup from those of others
 * @param maxRows the most keys that are kept
 * @param afterWrite,afterAccess milliseconds until a key is forgotten
 * @param missing whether it is kept that a key has no rows
 */
case class LookupCacheSpec(
    id: String,
    maxRows: Option[Long],
    afterWrite: Option[Long],
    afterAccess: Option[Long],
    missing: Boolean)

object JdbcLookupSpec {
  private implicit val formats: Formats = DefaultFormats

  def of(json: String): JdbcLookupSpec = {
    val parsed = JsonMethods.parse(json)
    JdbcLookupSpec(
      (parsed \ "table").extract[String],
      (parsed \ "options").extract[Map[String, String]],
      (parsed \ "statement").extract[String],
      DataType.fromJson((parsed \ "schema").extract[String]).asInstanceOf[StructType],
      (parsed \ "retries").extract[Int],
      (parsed \ "cache").toOption.map(cacheOf))
  }

  private def cacheOf(cache: JValue): LookupCacheSpec = LookupCacheSpec(
    (cache \ "id").extract[String],
    (cache \ "max-rows").extractOpt[Long],
    (cache \ "expire-after-write").extractOpt[Long],
    (cache \ "expire-after-access").extractOpt[Long],
    (cache \ "cache-missing-key").extract[Boolean])
}
