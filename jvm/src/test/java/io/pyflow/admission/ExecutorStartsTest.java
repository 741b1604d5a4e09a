package io.pyflow.admission;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.ExecutorLostFailure;
import org.junit.Test;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** Executors that are lost: what of a start of CPython and of functions goes to process mode. */
public class ExecutorStartsTest {
  private final Set<String> registered = new HashSet<>(Set.of("1", "2"));
  private final Quarantine quarantine = new Quarantine(losses(Long.MAX_VALUE / 1_000_000));
  private final ExecutorStarts starts = startsWith(Long.MAX_VALUE / 1_000_000);

  private UnexplainedLosses losses(long patienceMillis) {
    return new UnexplainedLosses(registered::contains, patienceMillis);
  }

  private ExecutorStarts startsWith(long patienceMillis) {
    return new ExecutorStarts(losses(patienceMillis), quarantine::runIn);
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
  public void aStartThatIsToldAfterTheLossIsNone() {
    registered.remove("1");
    starts.executorRemoved("1", "Executor killed by driver.");
    starts.begins("1");
    assertTrue(starts.begins("2").isEmpty());
  }

  @Test
  public void anExecutorThatIsEndedFromOutsideIsNone() {
    for (String cause :
        List.of(
            "Executor killed by driver.",
            "Executor decommission: spot instance ends",
            "Executor heartbeat timed out after 125000 ms",
            "worker lost: Not receiving heartbeat for 60 seconds",
            "The executor with id 1 was deleted by a user or the framework.",
            "Command exited with code 143")) {
      starts.begins("1");
      starts.executorRemoved("1", cause);
      assertTrue(cause, starts.reason().isEmpty());
    }
  }

  // Two things at once

  private static final String CRASH = "Command exited with code 139";
  private static final String ALONE = AdmissionMessage$.MODULE$.Alone();

  /** A task runs a function of its own in an executor; its id is also that of the function. */
  private void announce(String executor, long task) {
    FunctionIdentity function = function(task);
    assertTrue(
        quarantine
            .announce(
                new Announcement(
                    executor,
                    task,
                    task,
                    7,
                    (int) task,
                    CollectionConverters.asScala(List.of(function)).toSeq(),
                    false))
            .isEmpty());
  }

  private static FunctionIdentity function(long task) {
    return new FunctionIdentity("f" + task, "digest of f" + task);
  }

  private boolean isQuarantined(long task) {
    return quarantine
        .reasonAgainst(() -> CollectionConverters.asScala(List.of(function(task))).toSeq())
        .isDefined();
  }

  /** As Spark's listeners hear of it, in the order in which the application registers them. */
  private void taskLost(String executor, long task, boolean byApplication, String cause) {
    starts.taskLost(executor, byApplication, cause);
    quarantine.taskEnded(
        task, new ExecutorLostFailure(executor, byApplication, Option.apply(cause)));
  }

  /** The events of a loss in each order: Spark tells of executor and tasks from two threads. */
  private List<Runnable> inEachOrder(String cause, boolean byApplication, long... tasks) {
    List<Runnable> orders = new ArrayList<>();
    for (int position = 0; position <= tasks.length; position++) {
      int removed = position;
      orders.add(
          () -> {
            for (int each = 0; each <= tasks.length; each++) {
              if (each == removed) {
                starts.executorRemoved("1", cause);
              }
              if (each < tasks.length) {
                taskLost("1", tasks[each], byApplication, cause);
              }
            }
          });
    }
    return orders;
  }

  private void checkFunctionsAreToBlame(Runnable loss, long... tasks) {
    loss.run();
    assertTrue(starts.reason().isEmpty());
    for (long task : tasks) {
      assertTrue(isQuarantined(task));
    }
    assertEquals(ALONE, starts.begins("2").get());
  }

  @Test
  public void functionsBesideAStartAreToBlame() {
    for (int order = 0; order < 2; order++) {
      starts.begins("1");
      announce("1", 10 + order);
      checkFunctionsAreToBlame(inEachOrder(CRASH, true, 10 + order).get(order), 10 + order);
      starts.ended("2", Option.empty());
    }
  }

  @Test
  public void soAreThoseOfSeveralTasks() {
    for (int order = 0; order < 3; order++) {
      starts.begins("1");
      long first = 10 + 2 * order;
      announce("1", first);
      announce("1", first + 1);
      Runnable loss = inEachOrder(CRASH, true, first, first + 1).get(order);
      checkFunctionsAreToBlame(loss, first, first + 1);
      starts.ended("2", Option.empty());
    }
  }

  @Test
  public void soAreFunctionsBesideTasksInProcessMode() {
    for (int order = 0; order < 3; order++) {
      starts.begins("1");
      announce("1", 10 + order);
      Runnable loss = inEachOrder(CRASH, true, 99, 10 + order).get(order);
      checkFunctionsAreToBlame(loss, 10 + order);
      starts.ended("2", Option.empty());
    }
  }

  @Test
  public void aStartThatCrashesAgainAloneIsToBlame() {
    starts.begins("1");
    announce("1", 10);
    taskLost("1", 10, true, CRASH);
    starts.executorRemoved("1", CRASH);
    assertEquals(ALONE, starts.begins("2").get());
    starts.executorRemoved("2", CRASH);
    assertTrue(starts.reason().get().contains("executor 2 was lost while the embedded Python"));
  }

  @Test
  public void tasksInProcessModeBesideAStartAreNot() {
    for (int order = 0; order < 2; order++) {
      ExecutorStarts fresh = startsWith(Long.MAX_VALUE / 1_000_000);
      fresh.begins("1");
      if (order == 0) {
        fresh.taskLost("1", true, CRASH);
      }
      fresh.executorRemoved("1", CRASH);
      assertTrue(fresh.reason().isDefined());
    }
  }

  @Test
  public void functionsThatHaveEndedAreNot() {
    starts.begins("1");
    announce("1", 10);
    quarantine.withdraw(new Withdrawal(10, 10));
    starts.executorRemoved("1", CRASH);
    assertTrue(starts.reason().isDefined());
    assertTrue(!isQuarantined(10));
  }

  @Test
  public void functionsElsewhereAreNot() {
    starts.begins("1");
    announce("2", 10);
    starts.executorRemoved("1", CRASH);
    assertTrue(starts.reason().isDefined());
    assertTrue(!isQuarantined(10));
  }

  @Test
  public void aStartThatHasEndedIsNot() {
    starts.begins("1");
    starts.ended("1", Option.empty());
    announce("1", 10);
    for (Runnable loss : inEachOrder(CRASH, true, 10)) {
      loss.run();
    }
    assertTrue(starts.reason().isEmpty());
    assertTrue(isQuarantined(10));
    assertTrue(starts.begins("2").isEmpty());
  }

  @Test
  public void neitherIsWhenBothAreEndedFromOutside() {
    for (String cause : List.of("worker lost: Not receiving heartbeat", "Container is no more")) {
      for (Runnable loss : inEachOrder(cause, false, 10)) {
        registered.add("1");
        starts.begins("1");
        announce("1", 10);
        loss.run();
        assertTrue(starts.reason().isEmpty());
        assertTrue(!isQuarantined(10));
      }
    }
  }

  @Test
  public void functionsAreToBlameForALossWhoseCauseIsNeverTold() throws InterruptedException {
    ExecutorStarts impatient = startsWith(0);
    impatient.begins("1");
    announce("1", 10);
    registered.remove("1");
    Option<String> answer = impatient.begins("2");
    while (answer.get().equals(AdmissionMessage$.MODULE$.AskAgain())) {
      Thread.sleep(1);
      answer = impatient.begins("2");
    }
    assertEquals(ALONE, answer.get());
    assertTrue(impatient.reason().isEmpty());
  }
}
