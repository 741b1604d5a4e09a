package io.pyflow.connectors

import java.nio.ByteBuffer
import java.time.Duration

import com.google.common.cache.{Cache, CacheBuilder}
import org.apache.spark.sql.catalyst.InternalRow

/** Rows that a lookup has found, by their keys. */
class LookupCache(spec: LookupCacheSpec) {

  private val rows: Cache[Seq[Any], Array[InternalRow]] = {
    val builder = CacheBuilder.newBuilder().asInstanceOf[CacheBuilder[Seq[Any], Array[InternalRow]]]
    spec.maxRows.foreach(builder.maximumSize)
    spec.afterWrite.foreach(millis => builder.expireAfterWrite(Duration.ofMillis(millis)))
    spec.afterAccess.foreach(millis => builder.expireAfterAccess(Duration.ofMillis(millis)))
    builder.build[Seq[Any], Array[InternalRow]]()
  }

  /** The rows of a key: those that are kept, or those that are found now. */
  def get(key: Seq[Any], find: () => Array[InternalRow]): Array[InternalRow] = {
    val comparable = key.map {
      case bytes: Array[Byte] => ByteBuffer.wrap(bytes)
      case value => value
    }
    Option(rows.getIfPresent(comparable)).getOrElse {
      val found = find()
      if (found.nonEmpty || spec.missing) rows.put(comparable, found)
      found
    }
  }
}

/** The caches of the lookups of an executor; one that no task has used for hours is forgotten. */
object LookupCache {
  private val caches: Cache[String, LookupCache] =
    CacheBuilder.newBuilder().expireAfterAccess(Duration.ofHours(6)).build[String, LookupCache]()

  def of(spec: LookupCacheSpec): LookupCache = caches.get(spec.id, () => new LookupCache(spec))
}
