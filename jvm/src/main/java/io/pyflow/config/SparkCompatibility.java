package io.pyflow.config;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the running Spark is the one this jar was built for. Spark's planner interfaces change
 * with every minor version; the classes that load first ask here, before they reach the others.
 */
public final class SparkCompatibility {
  private static final Logger LOG = LoggerFactory.getLogger(SparkCompatibility.class);

  private SparkCompatibility() {}

  /** Warns, with what to do, if the minor version is another one. */
  public static boolean check(String runningVersion) {
    String running = minor(runningVersion);
    String builtFor = minor(sparkVersionOfJar());
    if (running.equals(builtFor)) {
      return true;
    }
    LOG.warn(
        "PyFlow is not active: this jar was built for Spark {}, the application runs on Spark {}. "
            + "Python functions stay in process mode. Use the PyFlow jar built for Spark {}, or "
            + "remove PyFlow from spark.plugins and spark.sql.extensions.",
        builtFor,
        runningVersion,
        running);
    return false;
  }

  /** "4.3" of "4.3.0" and of "4.3.1-SNAPSHOT". */
  private static String minor(String version) {
    String[] parts = version.split("\\.", 3);
    return parts.length < 2 ? version : parts[0] + "." + parts[1];
  }

  private static String sparkVersionOfJar() {
    Properties properties = new Properties();
    try (InputStream in =
        SparkCompatibility.class.getResourceAsStream("/META-INF/pyflow.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      LOG.warn("META-INF/pyflow.properties of the PyFlow jar cannot be read", e);
    }
    return properties.getProperty("spark.version", "unknown");
  }
}
