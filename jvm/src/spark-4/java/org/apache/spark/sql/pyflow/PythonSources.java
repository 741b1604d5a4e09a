package org.apache.spark.sql.pyflow;

import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceV2;
import org.apache.spark.sql.execution.datasources.v2.python.PythonPartitionReaderFactory;
import org.apache.spark.sql.execution.datasources.v2.python.PythonScan;
import org.apache.spark.sql.execution.datasources.v2.python.PythonStreamingPartitionReaderFactory;
import org.apache.spark.sql.execution.datasources.v2.python.PythonStreamingWrite;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWrite;
import org.apache.spark.sql.execution.datasources.v2.python.UserDefinedPythonDataSource;

/**
 * Fields of Python data sources that Spark keeps to itself. In Java, because for Scala they are
 * private.
 */
public final class PythonSources {
  private PythonSources() {}

  public static UserDefinedPythonDataSource of(PythonScan scan) {
    return source(scan, PythonScan.class);
  }

  public static UserDefinedPythonDataSource of(PythonWrite write) {
    return source(write, PythonWrite.class);
  }

  public static UserDefinedPythonDataSource of(PythonStreamingWrite write) {
    return source(write, PythonStreamingWrite.class);
  }

  /** The name that the source is registered under. */
  public static String nameOf(PythonScan scan) {
    return PrivateFields.get(scan, PythonScan.class, "shortName");
  }

  public static String nameOf(PythonStreamingWrite write) {
    return PrivateFields.get(write, PythonStreamingWrite.class, "shortName");
  }

  /** The pickled function that reads a partition. */
  public static byte[] readFunction(PartitionReaderFactory factory) {
    if (factory instanceof PythonStreamingPartitionReaderFactory ofStream) {
      return ofStream
          .org$apache$spark$sql$execution$datasources$v2$python$PythonStreamingPartitionReaderFactory$$pickledReadFunc;
    }
    return ((PythonPartitionReaderFactory) factory)
        .org$apache$spark$sql$execution$datasources$v2$python$PythonPartitionReaderFactory$$pickledReadFunc;
  }

  private static UserDefinedPythonDataSource source(Object owner, Class<?> declaring) {
    return PrivateFields.<PythonDataSourceV2>get(owner, declaring, "ds").source();
  }
}
