package org.apache.spark.sql.pyflow

import java.sql.ResultSet

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.jdbc.JdbcUtils
import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types.StructType

/** Rows of a database as Spark's JDBC source makes them. */
object JdbcRows {

  /** All rows of a result, within a task. */
  def all(results: ResultSet, dialect: JdbcDialect, schema: StructType): Array[InternalRow] = {
    val metrics = TaskContext.get().taskMetrics().inputMetrics
    JdbcUtils
      .resultSetToSparkInternalRows(results, dialect, schema, metrics)
      .map(_.copy())
      .toArray
  }
}
