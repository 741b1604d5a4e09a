package io.pyflow.config;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the running Spark is the one this jar was built for. Spark's planner interfaces change
 * with every minor version; the classes that load first ask here, before they reach the others.
 */
public final class SparkCompatibility {
  private static final Logger LOG = LoggerFactory.getLogger(SparkCompatibility.class);

  private static final AtomicBoolean warned = new AtomicBoolean();

  private SparkCompatibility() {}

  /** Warns once, with what to do, if the minor version is another one. */
  public static boolean check(String runningVersion) {
    Optional<String> mismatch = mismatch(runningVersion);
    if (mismatch.isPresent() && !warned.getAndSet(true)) {
      LOG.warn(
          "PyFlow is not active: {}, or remove PyFlow from spark.plugins and "
              + "spark.sql.extensions. Python functions stay in process mode.",
          mismatch.get());
    }
    return mismatch.isEmpty();
  }

  /** What is wrong and which jar is wanted, if the minor version is another one. */
  public static Optional<String> mismatch(String runningVersion) {
    String running = minor(runningVersion);
    String builtFor = minor(sparkVersionOfJar());
    if (running.equals(builtFor)) {
      return Optional.empty();
    }
    return Optional.of(
        String.format(
            "this jar was built for Spark %s, the application runs on Spark %s. Use the PyFlow jar "
                + "built for Spark %s",
            builtFor, runningVersion, running));
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
