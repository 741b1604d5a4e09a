package org.apache.spark.sql.pyflow;

import org.apache.spark.api.python.PythonFunction;
import org.apache.spark.sql.execution.python.streaming.PythonForeachWriter;
import org.apache.spark.sql.types.StructType;

/** Fields of the sinks of streams that Spark keeps to itself. */
public final class PythonSinks {
  private PythonSinks() {}

  public static PythonFunction functionOf(PythonForeachWriter writer) {
    return writer.org$apache$spark$sql$execution$python$streaming$PythonForeachWriter$$func;
  }

  /** The columns of the rows as the driver's Python knew them. */
  public static StructType schemaOf(PythonForeachWriter writer) {
    return PrivateFields.get(writer, PythonForeachWriter.class, "schema");
  }
}
