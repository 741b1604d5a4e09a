package io.pyflow.admission;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.Test;

public class ExecutorStartsTest {
  private final Set<String> registered = new HashSet<>(Set.of("1", "2"));
  private final ExecutorStarts starts = new ExecutorStarts(registered::contains);

  @Test
  public void anExecutorThatIsLostMeanwhileIsAReason() {
    assertTrue(starts.begins("1").isEmpty());
    starts.executorRemoved("1", "Command exited with code 139");
    assertTrue(starts.reason().get().contains("executor 1 was lost while the embedded Python"));
    assertEquals(starts.reason(), starts.begins("2"));
  }

  @Test
  public void anExecutorThatIsEndedFromOutsideIsNone() {
    for (String cause :
        List.of(
            "Executor killed by driver.",
            "Executor decommission: spot instance ends",
            "Executor heartbeat timed out after 125000 ms",
            "Command exited with code 143")) {
      starts.begins("1");
      starts.executorRemoved("1", cause);
      assertTrue(cause, starts.reason().isEmpty());
    }
  }
}
