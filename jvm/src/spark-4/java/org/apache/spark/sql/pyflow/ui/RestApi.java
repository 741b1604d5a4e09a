package org.apache.spark.sql.pyflow.ui;

import org.apache.spark.ui.SparkUI;
import scala.jdk.javaapi.CollectionConverters;

/** Spark's REST API; in Java, because Scala sees classes of its server under other names. */
final class RestApi {
  private static final String PATH = "/api";

  private RestApi() {}

  /**
   * Has Spark find our part of it. It looks for classes with its first request; threads of its
   * server do not see the jars of the application.
   */
  static void extend(SparkUI ui) {
    for (var handler : CollectionConverters.asJava(ui.getHandlers())) {
      if (handler.getContextPath().equals(PATH)) {
        handler.setClassLoader(RestApi.class.getClassLoader());
      }
    }
  }
}
