package io.pyflow.execution;

import static org.junit.Assert.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.Test;

public class BundleSizeTest {
  private static final long QUICK = TimeUnit.MICROSECONDS.toNanos(10);
  private static final long SLOW = TimeUnit.MILLISECONDS.toNanos(40);

  private static final int ONE_BATCH = Integer.MAX_VALUE;

  private static BundleSize after(BundleSize size, long nanos, int bundles) {
    for (int i = 0; i < bundles; i++) {
      size.tookNanos(nanos);
    }
    return size;
  }

  @Test
  public void theFirstBundleIsOneRow() {
    assertEquals(1, new BundleSize(1024, 50, ONE_BATCH).rows());
  }

  @Test
  public void bundlesDoubleWhileTheyAreQuick() {
    assertEquals(8, after(new BundleSize(1024, 50, ONE_BATCH), QUICK, 3).rows());
  }

  @Test
  public void bundlesStayWithinTheSetting() {
    assertEquals(100, after(new BundleSize(100, 50, ONE_BATCH), QUICK, 20).rows());
  }

  @Test
  public void bundlesShrinkWhenTheyAreSlow() {
    assertEquals(256, after(after(new BundleSize(1024, 50, ONE_BATCH), QUICK, 20), SLOW, 2).rows());
  }

  @Test
  public void aBundleHasAtLeastOneRow() {
    assertEquals(1, after(new BundleSize(1024, 50, ONE_BATCH), SLOW, 20).rows());
  }

  @Test
  public void aShortTimeInTheSettingIsTheTarget() {
    long twoMillis = TimeUnit.MILLISECONDS.toNanos(2);
    assertEquals(
        512, after(after(new BundleSize(1024, 1, ONE_BATCH), QUICK, 20), twoMillis, 1).rows());
  }

  @Test
  public void bundlesEndWhereBatchesDo() {
    BundleSize size = after(new BundleSize(1024, 50, 1000), QUICK, 20);
    size.gathered(900);
    assertEquals(100, size.rows());
    size.gathered(100);
    assertEquals(1000, size.rows());
  }
}
