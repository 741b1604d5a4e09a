package io.pyflow.connectors

import org.apache.spark.sql.{DataFrame, Row, SaveMode, SQLContext}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.jdbc.{JdbcOptionsInWrite, JdbcUtils}
import org.apache.spark.sql.jdbc.JdbcDialects
import org.apache.spark.sql.sources.{BaseRelation, CreatableRelationProvider}
import org.apache.spark.sql.types.StructType

/**
 * Writes rows into a table of a database by statements of the caller.
 *
 * Spark's own JDBC sink only inserts. This one takes the statement that writes a row, which may
 * update the row that has its key, and the one that deletes a row. Connections, types,
 * transactions and batches are those of Spark's sink, whose options it takes.
 *
 * The last column of the rows tells what to do with each: DELETE as in Flink's RowKind deletes it,
 * any other number writes it. Rows of a partition to delete must come before those to write.
 */
class JdbcStatements extends CreatableRelationProvider {
  override def createRelation(
      context: SQLContext,
      mode: SaveMode,
      parameters: Map[String, String],
      data: DataFrame): BaseRelation = {
    val write = new JdbcStatements.Write(parameters, data.schema)
    data.foreachPartition((rows: Iterator[Row]) => write(rows))
    new BaseRelation {
      override val sqlContext: SQLContext = context
      override val schema: StructType = data.schema
    }
  }
}

object JdbcStatements {

  /** The number of RowKind.DELETE. */
  private val Delete = 3

  private class Write(parameters: Map[String, String], rows: StructType) extends Serializable {
    private val settings = CaseInsensitiveMap(parameters)
    private val options = new JdbcOptionsInWrite(settings)
    private val dialect = JdbcDialects.get(options.url)
    private val kind = rows.length - 1
    private val columns = StructType(rows.take(kind))
    private val writing = settings("writeStatement")
    private val deleting = settings.get("deleteStatement")
    private val keys = settings.get("keys").fold(Seq.empty[String])(_.split('\n').toSeq)
    private val keyColumns = StructType(keys.map(columns(_)))
    private val keyPlaces = keys.map(columns.fieldIndex)

    def apply(rows: Iterator[Row]): Unit = {
      val (deleted, written) = rows.span(_.getByte(kind) == Delete)
      deleting.foreach { statement =>
        save(deleted.map(row => Row.fromSeq(keyPlaces.map(row.get))), keyColumns, statement)
      }
      save(written, columns, writing)
    }

    private def save(rows: Iterator[Row], schema: StructType, statement: String): Unit =
      JdbcUtils.savePartition(
        options.table,
        rows,
        schema,
        statement,
        options.batchSize,
        dialect,
        options.isolationLevel,
        options)
  }
}
