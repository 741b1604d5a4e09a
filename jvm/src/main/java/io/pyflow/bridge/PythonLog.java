package io.pyflow.bridge;

import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.config.Configurator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of what Python functions print and log: {@value #NAME}. Its level is INFO unless the
 * application's logging configuration names this logger, so that a print is seen also where Spark's
 * shells show warnings only.
 */
final class PythonLog {
  static final String NAME = "io.pyflow.python";

  // The levels of Python's logging module.
  private static final int ERROR = 40;
  private static final int WARNING = 30;
  private static final int INFO = 20;
  private static final int DEBUG = 10;

  private static final Logger LOG = logger();

  private PythonLog() {}

  static void write(int level, String message) {
    if (level >= ERROR) {
      LOG.error(message);
    } else if (level >= WARNING) {
      LOG.warn(message);
    } else if (level >= INFO) {
      LOG.info(message);
    } else if (level >= DEBUG) {
      LOG.debug(message);
    } else {
      LOG.trace(message);
    }
  }

  private static Logger logger() {
    if (LogManager.getContext(false) instanceof LoggerContext context
        && !context.getConfiguration().getLoggers().containsKey(NAME)) {
      Configurator.setLevel(NAME, Level.INFO);
    }
    return LoggerFactory.getLogger(NAME);
  }
}
