package io.pyflow.connectors

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Instant, ZoneId}
import java.time.format.DateTimeFormatter
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.util.matching.Regex

import org.apache.hadoop.fs.{ChecksumFileSystem, FileStatus, FileSystem, Path}
import org.apache.spark.sql.{DataFrame, Encoders, Observation, Row, SaveMode, SparkSession}
import org.apache.spark.sql.SQLContext
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.functions.{col, count, lit}
import org.apache.spark.sql.sources.{BaseRelation, CreatableRelationProvider}
import org.apache.spark.sql.types.StructType

/**
 * Writes rows into new files of a directory, whose names are those of Flink's file sink.
 *
 * Spark's writer of a format writes them into a hidden directory. Its files are moved when all of
 * them are complete: readers see no file of a write that failed. A batch of a stream may be written
 * again after a failure; it replaces what it had written.
 *
 * {{{
 * rows -> directory/.inprogress-<id>/part-00000-... -> directory/<bucket>/<prefix>-<id>-<n><suffix>
 * }}}
 *
 * Options: `directory`; `files`, the format, and `files.*`, the options of its writer; `prefix` and
 * `suffix`; `bucketPattern` and `bucketZone`, of the time of writing in the name of the bucket;
 * `batch`, the number of the micro-batch. Lines of text come as bytes, in any encoding; `header` is
 * the first line of each of their files.
 */
class PartFiles extends CreatableRelationProvider {
  override def createRelation(
      context: SQLContext,
      mode: SaveMode,
      parameters: Map[String, String],
      data: DataFrame): BaseRelation = {
    new PartFiles.Write(context.sparkSession, CaseInsensitiveMap(parameters)).apply(data)
    new BaseRelation {
      override val sqlContext: SQLContext = context
      override val schema: StructType = data.schema
    }
  }
}

object PartFiles {

  /** Of the thread of a streaming query: its identity, which restarts keep, and that of its run. */
  private val Query = "sql.streaming.queryId"
  private val Run = "spark.jobGroup.id"

  /** How many files a run has written in its latest batch, by run, directory and prefix. */
  private val written = new ConcurrentHashMap[(String, String, String), (Long, Int)]

  private class Write(session: SparkSession, options: CaseInsensitiveMap[String]) {
    private val directory = new Path(options("directory"))
    private val fileSystem: FileSystem =
      directory.getFileSystem(session.sessionState.newHadoopConf())
    // Files that only Hadoop reads with its checksums would lie beside those of the program.
    private val withoutChecksums = fileSystem match {
      case local: ChecksumFileSystem => local.getRawFileSystem
      case other => other
    }
    private val prefix = options("prefix")
    private val query = Option(session.sparkContext.getLocalProperty(Query))
    private val batch = options.get("batch").filter(_ => query.isDefined).map(_.toLong)
    private val id = batch.fold(UUID.randomUUID().toString)(number => s"${query.get}-$number")

    def apply(data: DataFrame): Unit = {
      val first = batch.fold(0)(number => alreadyWritten(number))
      val staging = new Path(directory, s".inprogress-$id")
      val rows = Observation()
      try {
        contents(data)
          .observe(rows, count(lit(1)).as("count"))
          .write
          .format(options("files"))
          .options(writerOptions)
          .mode(SaveMode.Overwrite)
          .save(staging.toString)
        val found = if (rows.get("count") == 0L) Seq.empty else parts(staging)
        if (found.nonEmpty) {
          move(found, first)
        }
        batch.foreach(number => written.put(run, (number, first + found.size)))
      } finally {
        fileSystem.delete(staging, true)
      }
    }

    private def contents(data: DataFrame): DataFrame =
      if (options("files") == "text") {
        val lines = options.get("header").fold(data)(headed(data, _))
        lines.select(col(data.columns.head).cast("string"))
      } else {
        data
      }

    private def headed(lines: DataFrame, header: String): DataFrame =
      lines.mapPartitions { (rows: Iterator[Row]) =>
        if (rows.hasNext) Iterator(Row(header.getBytes(UTF_8))) ++ rows else rows
      }(Encoders.row(lines.schema))

    private def run: (String, String, String) =
      (session.sparkContext.getLocalProperty(Run), directory.toString, prefix)

    private def writerOptions: Map[String, String] =
      options.collect { case (key, value) if key.startsWith("files.") => key.drop(6) -> value }

    /** Returns how many files of a batch another sink of the query has written. */
    private def alreadyWritten(number: Long): Int =
      Option(written.get(run)) match {
        case Some((`number`, files)) => files
        case Some(_) => 0
        case None =>
          // Only the first batch of a run may be one that an earlier run has begun.
          remove(number)
          0
      }

    /** Removes what an earlier run has written of a batch. */
    private def remove(number: Long): Unit = {
      val name = ("^" + Regex.quote(s"$prefix-${query.get}-") + "(\\d+)-").r
      val numbered = files.flatMap { path =>
        name.findFirstMatchIn(path.getName).map(found => (found.group(1).toLong, path))
      }
      numbered.find { case (other, _) => other > number }.foreach { case (other, path) =>
        throw new IllegalStateException(
          s"$path is of batch $other, and the query goes on with batch $number: it has been " +
            "started from an older state, and would write results a second time. Give the sink " +
            "another directory or prefix, or remove what it has written since then.")
      }
      numbered.foreach { case (other, path) =>
        if (other == number) fileSystem.delete(path, false)
      }
    }

    private def files: Seq[Path] =
      if (fileSystem.exists(directory)) {
        val found = fileSystem.listFiles(directory, true)
        Iterator.continually(found).takeWhile(_.hasNext).map(_.next().getPath).toList
      } else {
        Seq.empty
      }

    private def parts(staging: Path): Seq[FileStatus] =
      fileSystem
        .listStatus(staging)
        .toSeq
        .filter(file => file.getPath.getName.startsWith("part-") && file.getLen > 0)
        .sortBy(_.getPath.getName)

    private def move(found: Seq[FileStatus], first: Int): Unit = {
      val target = bucket.fold(directory)(new Path(directory, _))
      fileSystem.mkdirs(target)
      val suffix = options("suffix")
      found.zipWithIndex.foreach { case (file, place) =>
        val path = new Path(target, s"$prefix-$id-${first + place}$suffix")
        if (!withoutChecksums.rename(file.getPath, path)) {
          throw new IOException(s"${file.getPath} cannot be renamed to $path")
        }
      }
    }

    private def bucket: Option[String] =
      options.get("bucketPattern").map { pattern =>
        val zone = options.get("bucketZone").fold(ZoneId.systemDefault())(ZoneId.of(_))
        DateTimeFormatter.ofPattern(pattern).withZone(zone).format(Instant.now())
      }
  }
}
