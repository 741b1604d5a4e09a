package org.apache.spark.sql.pyflow.ui;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.List;
import org.junit.Test;
import scala.jdk.javaapi.CollectionConverters;

public class TimelineTest {
  private final Timeline timeline = new Timeline();

  private List<TimePoint> points() {
    return CollectionConverters.asJava(timeline.toSeq());
  }

  private void add(long time, long calls) {
    timeline.add(time, new PythonTotals(0, 0, 0, 0, calls, calls * 10, calls, 0, 0, 0, 0, 0, 0, 0));
  }

  @Test
  public void callsOfASecondAreOnePoint() {
    add(5_100, 2);
    add(5_900, 3);

    assertEquals(List.of(new TimePoint(5_000, 1_000, 5, 50, 5)), points());
  }

  @Test
  public void spansGetLongerAndNothingIsLost() {
    for (long second = 0; second < 1_000; second++) {
      add(second * 1_000, 1);
    }

    assertTrue(points().size() <= 100);
    assertEquals(1_000, points().stream().mapToLong(TimePoint::calls).sum());
    assertEquals(16_000, points().get(0).span());
  }

  @Test
  public void whatHasNoCallsIsNoPoint() {
    add(1_000, 0);

    assertEquals(List.of(), points());
  }
}
