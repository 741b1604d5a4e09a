package io.pyflow.execution.rows;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import io.pyflow.bridge.InputBundle;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.junit.Test;

public class BundleSizeTest {
  private static final long QUICK = TimeUnit.MICROSECONDS.toNanos(10);
  private static final long SLOW = TimeUnit.MILLISECONDS.toNanos(40);

  private static BundleSize after(BundleSize size, long nanos, int bundles) {
    for (int i = 0; i < bundles; i++) {
      size.tookNanos(nanos);
    }
    return size;
  }

  @Test
  public void theFirstBundleIsOneRow() {
    assertEquals(1, new BundleSize(1024, 50).rows());
  }

  @Test
  public void bundlesDoubleWhileTheyAreQuick() {
    assertEquals(8, after(new BundleSize(1024, 50), QUICK, 3).rows());
  }

  @Test
  public void bundlesStayWithinTheSetting() {
    assertEquals(100, after(new BundleSize(100, 50), QUICK, 20).rows());
  }

  @Test
  public void bundlesShrinkWhenTheyAreSlow() {
    assertEquals(256, after(after(new BundleSize(1024, 50), QUICK, 20), SLOW, 2).rows());
  }

  @Test
  public void aBundleHasAtLeastOneRow() {
    assertEquals(1, after(new BundleSize(1024, 50), SLOW, 20).rows());
  }

  @Test
  public void aShortTimeInTheSettingIsTheTarget() {
    long twoMillis = TimeUnit.MILLISECONDS.toNanos(2);
    assertEquals(512, after(after(new BundleSize(1024, 1), QUICK, 20), twoMillis, 1).rows());
  }

  @Test
  public void aBundleWithoutRowsIsNotFull() {
    InputBundle bundle = new InputBundle(bytes -> null);
    long longAgo = System.nanoTime() - TimeUnit.SECONDS.toNanos(1);
    assertFalse(new BundleSize(1024, 50).isFull(bundle, longAgo));
    UnsafeRow row = new UnsafeRow(0);
    row.pointTo(new byte[0], 0);
    for (int i = 0; i < 16; i++) {
      bundle.add(row);
    }
    assertTrue(new BundleSize(1024, 50).isFull(bundle, longAgo));
    bundle.free();
  }
}
