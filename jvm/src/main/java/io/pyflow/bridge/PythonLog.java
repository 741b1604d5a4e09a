package io.pyflow.bridge;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.Map;
import org.apache.logging.log4j.CloseableThreadContext;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.spi.LoggerContext;

/**
 * The log of what Python functions print and log: {@value #NAME}, and below it the loggers of
 * Python by their names. Python decides which records there are, so all are let through unless the
 * application's logging configuration names this logger: a print is seen also where Spark's shells
 * show warnings only.
 */
final class PythonLog {
  static final String NAME = "io.pyflow.python";

  // The levels of Python's logging module.
  private static final int ERROR = 40;
  private static final int WARNING = 30;
  private static final int INFO = 20;
  private static final int DEBUG = 10;

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final LoggerContext LOGGERS = LogManager.getContext(false);

  static {
    if (LOGGERS instanceof org.apache.logging.log4j.core.LoggerContext context
        && !context.getConfiguration().getLoggers().containsKey(NAME)) {
      Configurator.setLevel(NAME, Level.ALL);
    }
  }

  private PythonLog() {}

  /**
   * Writes a line.
   *
   * @param level of Python's logging module
   * @param line JSON: {@code message}, {@code logger} if a logger of Python has it, and {@code
   *     fields} for the thread context (MDC)
   */
  static void write(int level, String line) {
    JsonNode parsed;
    try {
      parsed = JSON.readTree(line);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not a line of the log: " + line, e);
    }
    JsonNode given = parsed.path("fields");
    Map<String, String> fields = new HashMap<>();
    given.fieldNames().forEachRemaining(name -> fields.put(name, given.path(name).asText()));
    CloseableThreadContext.Instance context = CloseableThreadContext.putAll(fields);
    try {
      logger(parsed.path("logger").asText()).log(levelOf(level), parsed.path("message").asText());
    } finally {
      context.close();
    }
  }

  private static Logger logger(String name) {
    return LOGGERS.getLogger(name.isEmpty() ? NAME : NAME + "." + name);
  }

  private static Level levelOf(int level) {
    if (level >= ERROR) {
      return Level.ERROR;
    } else if (level >= WARNING) {
      return Level.WARN;
    } else if (level >= INFO) {
      return Level.INFO;
    } else if (level >= DEBUG) {
      return Level.DEBUG;
    } else {
      return Level.TRACE;
    }
  }
}
