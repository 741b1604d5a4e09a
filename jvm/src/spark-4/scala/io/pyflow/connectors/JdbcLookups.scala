package io.pyflow.connectors

import java.sql.{Connection, PreparedStatement, SQLException}

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.jdbc.JdbcDialects
import org.apache.spark.sql.pyflow.JdbcRows
import org.apache.spark.sql.types._

/** The lookups of a task in a database, by one connection, which is closed when the task ends. */
class JdbcLookups(spec: JdbcLookupSpec, keyTypes: Seq[DataType]) {

  private val dialect = JdbcDialects.get(spec.options("url"))

  private var open: Option[(Connection, PreparedStatement)] = None

  TaskContext.get().addTaskCompletionListener[Unit](_ => disconnect())

  /** Asks the database, again and later each time it fails, as often as the table says. */
  def rowsOf(key: Seq[Any], failures: Int = 0): Array[InternalRow] =
    try {
      found(key)
    } catch {
      case _: SQLException if failures < spec.retries =>
        disconnect()
        Thread.sleep(1000L * failures)
        rowsOf(key, failures + 1)
      case error: SQLException =>
        throw new RuntimeException(
          s"Table ${spec.table}: the lookup of (${key.mkString(", ")}) has failed " +
            s"${failures + 1} times: ${error.getMessage}",
          error)
    }

  private def found(key: Seq[Any]): Array[InternalRow] = {
    val (_, statement) = open.getOrElse(connect())
    key.indices.foreach(i => set(statement, i + 1, key(i), keyTypes(i)))
    val results = statement.executeQuery()
    try {
      JdbcRows.all(results, dialect, spec.schema)
    } finally {
      results.close()
    }
  }

  private def connect(): (Connection, PreparedStatement) = {
    val connection = dialect.createConnectionFactory(new JDBCOptions(spec.options))(-1)
    try {
      val made = (connection, connection.prepareStatement(spec.statement))
      open = Some(made)
      made
    } catch {
      case error: Throwable =>
        connection.close()
        throw error
    }
  }

  private def disconnect(): Unit = {
    val closed = open
    open = None
    closed.foreach { case (connection, _) =>
      try {
        connection.close()
      } catch {
        case _: SQLException => // It was broken.
      }
    }
  }

  private def set(statement: PreparedStatement, place: Int, value: Any, dataType: DataType): Unit =
    (dataType, value) match {
      case (_: StringType, text) => statement.setString(place, text.toString)
      case (_, decimal: Decimal) => statement.setBigDecimal(place, decimal.toJavaBigDecimal)
      case (_, bytes: Array[Byte]) => statement.setBytes(place, bytes)
      case (DateType, days: Int) => statement.setDate(place, DateTimeUtils.toJavaDate(days))
      case (TimestampType, micros: Long) =>
        statement.setTimestamp(place, DateTimeUtils.toJavaTimestamp(micros))
      case (TimestampNTZType, micros: Long) =>
        val time = DateTimeUtils.microsToLocalDateTime(micros)
        statement.setTimestamp(place, dialect.convertTimestampNTZToJavaTimestamp(time))
      case (_, byte: Byte) => statement.setShort(place, byte.toShort)
      case _ => statement.setObject(place, value)
    }
}
