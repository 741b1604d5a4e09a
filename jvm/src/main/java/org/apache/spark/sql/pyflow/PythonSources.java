package org.apache.spark.sql.pyflow;

import java.lang.reflect.Field;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceV2;
import org.apache.spark.sql.execution.datasources.v2.python.PythonPartitionReaderFactory;
import org.apache.spark.sql.execution.datasources.v2.python.PythonScan;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWrite;
import org.apache.spark.sql.execution.datasources.v2.python.UserDefinedPythonDataSource;

/**
 * What Spark keeps to itself of Python data sources. In Java, because for Scala the fields are
 * private.
 */
public final class PythonSources {
  private PythonSources() {}

  public static UserDefinedPythonDataSource of(PythonScan scan) {
    return field(PythonScan.class, scan);
  }

  public static UserDefinedPythonDataSource of(PythonWrite write) {
    return field(PythonWrite.class, write);
  }

  /** The pickled function that reads a partition. */
  public static byte[] readFunction(PartitionReaderFactory factory) {
    return ((PythonPartitionReaderFactory) factory)
        .org$apache$spark$sql$execution$datasources$v2$python$PythonPartitionReaderFactory$$pickledReadFunc;
  }

  private static <T> UserDefinedPythonDataSource field(Class<T> type, T owner) {
    try {
      Field field = type.getDeclaredField("ds");
      field.setAccessible(true);
      return ((PythonDataSourceV2) field.get(owner)).source();
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("not the Spark version that this jar was built for", e);
    }
  }
}
