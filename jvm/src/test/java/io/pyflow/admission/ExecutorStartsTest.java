package io.pyflow.admission;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.Test;
import scala.Option;

public class ExecutorStartsTest {
  private final Set<String> registered = new HashSet<>(Set.of("1", "2"));
  private final ExecutorStarts starts = startsWith(Long.MAX_VALUE / 1_000_000);

  private ExecutorStarts startsWith(long patienceMillis) {
    return new ExecutorStarts(new UnexplainedLosses(registered::contains, patienceMillis));
  }

  @Test
  public void anExecutorThatIsLostMeanwhileIsAReason() {
    assertTrue(starts.begins("1").isEmpty());
    starts.executorRemoved("1", "Command exited with code 139");
    assertTrue(starts.reason().get().contains("executor 1 was lost while the embedded Python"));
    assertEquals(starts.reason(), starts.begins("2"));
  }

  @Test
  public void aLossWaitsForItsCause() {
    for (String cause : List.of("Command exited with code 143", "Command exited with code 139")) {
      registered.add("1");
      starts.begins("1");
      registered.remove("1");
      assertEquals(AdmissionMessage$.MODULE$.AskAgain(), starts.begins("2").get());
      assertTrue(starts.reason().isEmpty());
      starts.executorRemoved("1", cause);
      assertEquals(cause.endsWith("139"), starts.begins("2").isDefined());
      starts.ended("2", Option.empty());
    }
    assertTrue(starts.reason().get().contains("(Command exited with code 139)"));
  }

  @Test
  public void aLossWhoseCauseIsNeverToldIsAReason() throws InterruptedException {
    ExecutorStarts impatient = startsWith(0);
    impatient.begins("1");
    registered.remove("1");
    Option<String> answer = impatient.begins("2");
    while (answer.get().equals(AdmissionMessage$.MODULE$.AskAgain())) {
      Thread.sleep(1);
      answer = impatient.begins("2");
    }
    assertTrue(answer.get().contains("(unknown cause)"));
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
