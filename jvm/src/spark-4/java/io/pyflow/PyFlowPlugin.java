package io.pyflow;

import io.pyflow.admission.AdmissionEndpoint;
import io.pyflow.config.SparkCompatibility;
import io.pyflow.plugin.RddFunctions;
import io.pyflow.plugin.SessionExtensions;
import io.pyflow.plugin.SubmittedJars;
import io.pyflow.plugin.ThreadModeSetup;
import java.util.Collections;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.sql.pyflow.ExecutorRequests;

/**
 * Adds thread mode to a Spark application: {@code spark.plugins=io.pyflow.PyFlowPlugin}.
 *
 * <p>Touches stable interfaces of Spark only, so that it loads on every version. On another than
 * the one the jar was built for, the application runs on as if the plugin were not there; its plans
 * and its log say why.
 */
public final class PyFlowPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return new Driver();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new Executor();
  }

  private static final class Driver implements DriverPlugin {
    @Override
    public Map<String, String> init(SparkContext sc, PluginContext context) {
      if (!SparkCompatibility.check(sc.version())) {
        SessionExtensions.add(SparkEnv.get().conf());
        return Collections.emptyMap();
      }
      SubmittedJars.add(sc);
      AdmissionEndpoint.begin(sc);
      ExecutorRequests.begin();
      RddFunctions.watch(sc);
      ThreadModeSetup.showInUi(sc, context);
      // The configuration that executors and sessions are made from; sc.getConf is a copy of it.
      return ThreadModeSetup.onDriver(SparkEnv.get().conf());
    }

    @Override
    public Object receive(Object message) {
      return ExecutorRequests.receive(message) ? null : AdmissionEndpoint.receive(message);
    }

    @Override
    public void shutdown() {
      AdmissionEndpoint.end();
    }
  }

  private static final class Executor implements ExecutorPlugin {
    private Runnable atTaskStart = () -> {};
    private Runnable atEnd = () -> {};

    /** What the driver plugin returned; empty if it found another Spark version. */
    @Override
    public void init(PluginContext context, Map<String, String> fromDriver) {
      if (!fromDriver.isEmpty()) {
        ThreadModeSetup.onExecutor(context, fromDriver);
        atTaskStart = ThreadModeSetup::onTaskStart;
        atEnd = () -> ThreadModeSetup.onExecutorEnd(context);
      }
    }

    @Override
    public void onTaskStart() {
      atTaskStart.run();
    }

    @Override
    public void shutdown() {
      atEnd.run();
    }
  }
}
