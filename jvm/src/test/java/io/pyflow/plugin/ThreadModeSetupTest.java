package io.pyflow.plugin;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;

import org.apache.spark.SparkConf;
import org.junit.Test;

public class ThreadModeSetupTest {
  private static final String MODE = "spark.pyflow.execution-mode";
  private static final String FACTOR = "spark.executor.memoryOverheadFactor";

  private static SparkConf prepared(String... settings) {
    SparkConf conf = new SparkConf(false);
    for (int i = 0; i < settings.length; i += 2) {
      conf.set(settings[i], settings[i + 1]);
    }
    ThreadModeSetup.onDriver(conf);
    return conf;
  }

  @Test
  public void containersHaveRoomForPythonInThreadMode() {
    assertEquals("0.4", prepared(MODE, "thread").get(FACTOR));
    assertEquals("0.4", prepared(MODE, "auto").get(FACTOR));
    assertFalse(prepared().contains(FACTOR));
    assertFalse(prepared(MODE, "process").contains(FACTOR));
  }

  @Test
  public void whatTheUserHasDecidedAboutMemoryStays() {
    assertEquals("0.2", prepared(MODE, "thread", FACTOR, "0.2").get(FACTOR));
    for (String decided :
        new String[] {
          "spark.executor.memoryOverhead",
          "spark.executor.minMemoryOverhead",
          "spark.executor.pyspark.memory"
        }) {
      assertFalse(decided, prepared(MODE, "thread", decided, "1g").contains(FACTOR));
    }
    String ofKubernetes = "spark.kubernetes.memoryOverheadFactor";
    assertFalse(prepared(MODE, "thread", ofKubernetes, "0.3").contains(FACTOR));
  }

  @Test
  public void executorsGetAStackThatPythonNeedsUnlessTheUserHasChosenOne() {
    String options = "spark.executor.extraJavaOptions";
    assertEquals("-Xss8m", prepared().get(options));
    assertEquals("-Da=b -Xss8m", prepared(options, "-Da=b").get(options));
    assertEquals("-Xss2m", prepared(options, "-Xss2m").get(options));
  }
}
