package io.pyflow.bridge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.api.python.PythonUtils;

/** What a Python executable says about itself, and whether it can be embedded. */
final class PythonInstallation {
  private static final String PROBE = "/python/pyflow/libpython.py";
  private static final int TIMEOUT_SECONDS = 60;

  private final String requested;
  private final JsonNode description;

  private PythonInstallation(String requested, JsonNode description) {
    this.requested = requested;
    this.description = description;
  }

  /**
   * Asks the executable, started as Spark would start it for a worker.
   *
   * @throws PythonUnavailableException if it cannot be asked or cannot be embedded
   */
  static PythonInstallation inspect(String pythonExec, Map<String, String> environment) {
    PythonInstallation installation =
        new PythonInstallation(pythonExec, ask(pythonExec, environment));
    String fault = installation.description.path("fault").asText("");
    if (!fault.isEmpty() && !installation.description.path("fault").isNull()) {
      throw new PythonUnavailableException(
          "The Python "
              + installation.version()
              + " at '"
              + pythonExec
              + "' "
              + fault
              + ", so it cannot run in the JVM. Set spark.pyflow.python to a CPython 3.10 to 3.14"
              + " with a shared library (Debian: apt-get install libpython3.X; pyenv:"
              + " PYTHON_CONFIGURE_OPTS=--enable-shared), or spark.pyflow.execution-mode=process.");
    }
    return installation;
  }

  private static JsonNode ask(String pythonExec, Map<String, String> environment) {
    try {
      ProcessBuilder builder = new ProcessBuilder(pythonExec, "-c", probe());
      builder.environment().putAll(environment);
      builder.environment().put("PYTHONPATH", pythonPath(environment));
      builder.environment().put("PYTHONIOENCODING", "utf-8");
      File errors = File.createTempFile("pyflow-python", ".err");
      try {
        Process process =
            builder.redirectError(errors).redirectInput(new File("/dev/null")).start();
        byte[] answer = process.getInputStream().readAllBytes();
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
          throw new PythonUnavailableException(
              "The Python at '" + pythonExec + "' did not end within " + TIMEOUT_SECONDS + " s.");
        }
        if (process.exitValue() != 0) {
          throw new PythonUnavailableException(
              "The Python at '"
                  + pythonExec
                  + "' does not start: "
                  + Files.readString(errors.toPath()).trim());
        }
        return new ObjectMapper().readTree(answer);
      } finally {
        Files.deleteIfExists(errors.toPath());
      }
    } catch (IOException e) {
      throw new PythonUnavailableException(
          "The Python executable '"
              + pythonExec
              + "' cannot be asked about itself ("
              + e.getMessage()
              + "). Set spark.pyspark.python or spark.pyflow.python to a Python that exists on"
              + " every executor.",
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PythonUnavailableException(
          "Interrupted while starting the Python at '" + pythonExec + "'.", e);
    }
  }

  private static String probe() throws IOException {
    try (InputStream source = PythonInstallation.class.getResourceAsStream(PROBE)) {
      if (source == null) {
        throw new IOException("the PyFlow jar does not contain " + PROBE);
      }
      return new String(source.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  // The path that Spark gives its Python workers: PySpark as shipped with Spark, then the user's.
  private static String pythonPath(Map<String, String> environment) {
    Set<String> entries = new LinkedHashSet<>();
    Stream.of(
            PythonUtils.sparkPythonPath(),
            environment.get("PYTHONPATH"),
            System.getenv("PYTHONPATH"))
        .filter(path -> path != null)
        .flatMap(path -> Arrays.stream(path.split(File.pathSeparator)))
        .filter(entry -> !entry.isEmpty())
        .forEach(entries::add);
    return String.join(File.pathSeparator, entries);
  }

  private String text(String field) {
    return description.path(field).asText();
  }

  /** The executable as the configuration names it. */
  String requested() {
    return requested;
  }

  String version() {
    return text("version");
  }

  /** The version without the patch level, such as 3.13; 3.13t of a free-threaded build. */
  String minorVersion() {
    return text("minor");
  }

  boolean isFreeThreaded() {
    return minorVersion().endsWith("t");
  }

  String sharedLibrary() {
    return text("library");
  }

  /** Executable and prefixes, in the order that the native start expects. */
  List<String> startOptions() {
    return List.of(
        text("executable"),
        text("prefix"),
        text("exec_prefix"),
        text("base_prefix"),
        text("base_exec_prefix"),
        text("stdlib_dir"));
  }

  List<String> searchPath() {
    List<String> entries = new ArrayList<>();
    description.path("path").forEach(entry -> entries.add(entry.asText()));
    return entries;
  }
}
