package io.pyflow.admission;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.junit.Test;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

public class QuarantineTest {
  private static final FunctionIdentity F = new FunctionIdentity("f", "digest of f");
  private static final FunctionIdentity G = new FunctionIdentity("g", "digest of g");
  private static final TaskEndReason CRASH = lost("1", true, "Command exited with code 134");

  private final Set<String> registered = new HashSet<>(Set.of("1", "2"));
  private final Quarantine quarantine = quarantineWith(Long.MAX_VALUE / 1_000_000);

  private Quarantine quarantineWith(long patienceMillis) {
    return new Quarantine(new UnexplainedLosses(registered::contains, patienceMillis));
  }

  private static TaskEndReason lost(String executor, boolean causedByApplication, String why) {
    return new ExecutorLostFailure(executor, causedByApplication, Option.apply(why));
  }

  private static Seq<FunctionIdentity> functions(FunctionIdentity... functions) {
    return CollectionConverters.asScala(List.of(functions)).toSeq();
  }

  /** An operator of a task; the task's id is also that of its partition. */
  private static Announcement running(String executor, long task, FunctionIdentity... functions) {
    return new Announcement(executor, task, task, 7, (int) task, functions(functions), false);
  }

  private Option<String> reasonAgainst(FunctionIdentity function) {
    return quarantine.reasonAgainst(() -> functions(function));
  }

  @Test
  public void whatRunsInALostExecutorGoesToQuarantine() {
    assertTrue(quarantine.announce(running("1", 10, F)).isEmpty());
    quarantine.taskEnded(10, CRASH);
    assertEquals(
        "it was running when executor 1 was lost (Command exited with code 134): "
            + "quarantined to process mode",
        reasonAgainst(F).get());
    assertEquals(reasonAgainst(F), quarantine.announce(running("2", 11, G, F)));
  }

  @Test
  public void allTasksOfALostExecutorCount() {
    quarantine.announce(running("1", 10, F));
    quarantine.announce(running("1", 11, G));
    quarantine.taskEnded(10, CRASH);
    assertTrue(reasonAgainst(G).isDefined());
  }

  @Test
  public void whatRunsElsewhereDoesNotCount() {
    quarantine.announce(running("1", 10, F));
    quarantine.announce(running("2", 11, G));
    quarantine.taskEnded(10, CRASH);
    assertTrue(reasonAgainst(G).isEmpty());
  }

  @Test
  public void whatHasEndedDoesNotCount() {
    quarantine.announce(running("1", 10, F));
    quarantine.withdraw(new Withdrawal(10, 10));
    quarantine.announce(running("1", 11, G));
    quarantine.taskEnded(11, CRASH);
    assertTrue(reasonAgainst(F).isEmpty());
  }

  @Test
  public void theEndOfATaskWithdrawsWhatTheExecutorDidNot() {
    quarantine.announce(running("1", 10, F));
    quarantine.taskEnded(10, Success$.MODULE$);
    quarantine.announce(running("1", 11, G));
    quarantine.taskEnded(11, CRASH);
    assertTrue(reasonAgainst(F).isEmpty());
  }

  @Test
  public void oneOperatorOfATaskMayEndBeforeTheOther() {
    quarantine.announce(new Announcement("1", 1, 10, 7, 0, functions(F), false));
    quarantine.announce(new Announcement("1", 2, 10, 7, 0, functions(G), false));
    quarantine.withdraw(new Withdrawal(10, 1));
    quarantine.taskEnded(10, CRASH);
    assertTrue(reasonAgainst(F).isEmpty());
    assertTrue(reasonAgainst(G).isDefined());
  }

  @Test
  public void aLossThatIsNotTheApplicationsDoingDoesNotCount() {
    for (TaskEndReason benign :
        Arrays.asList(
            lost("1", false, "Executor killed by driver."),
            lost("1", false, "Executor decommission: spot instance ends"),
            lost("1", true, "Executor heartbeat timed out after 125000 ms"),
            lost("1", true, "Command exited with code 143"))) {
      quarantine.announce(running("1", 10, F));
      quarantine.taskEnded(10, benign);
      assertTrue(reasonAgainst(F).isEmpty());
    }
  }

  @Test
  public void aTaskThatIsTriedAgainWaitsForTheCauseOfTheLoss() {
    Announcement again = new Announcement("2", 1, 11, 7, 10, functions(F), false);
    for (String cause : List.of("Command exited with code 143", "Command exited with code 139")) {
      registered.add("1");
      quarantine.announce(running("1", 10, F));
      registered.remove("1");
      assertEquals(AdmissionMessage$.MODULE$.AskAgain(), quarantine.announce(again).get());
      assertTrue(reasonAgainst(F).isEmpty());
      quarantine.taskEnded(10, lost("1", true, cause));
      assertEquals(cause.endsWith("139"), quarantine.announce(again).isDefined());
      quarantine.taskEnded(11, Success$.MODULE$);
    }
    assertTrue(reasonAgainst(F).get().contains("(Command exited with code 139)"));
  }

  @Test
  public void otherTasksDoNotWaitForIt() {
    quarantine.announce(running("1", 10, F));
    registered.remove("1");
    assertTrue(quarantine.announce(running("2", 11, F)).isEmpty());
  }

  @Test
  public void aLossWhoseCauseIsNeverToldCounts() throws InterruptedException {
    Quarantine impatient = quarantineWith(0);
    impatient.announce(running("1", 10, F));
    registered.remove("1");
    Announcement again = new Announcement("2", 1, 11, 7, 10, functions(F), false);
    Option<String> answer = impatient.announce(again);
    while (answer.get().equals(AdmissionMessage$.MODULE$.AskAgain())) {
      Thread.sleep(1);
      answer = impatient.announce(again);
    }
    assertTrue(answer.get().contains("when executor 1 was lost (unknown cause)"));
  }

  @Test
  public void anAnnouncementThatComesAfterTheLossDoesNotCount() {
    registered.remove("1");
    quarantine.taskEnded(10, CRASH);
    assertTrue(quarantine.announce(running("1", 10, F)).isEmpty());
    Announcement again = new Announcement("2", 1, 11, 7, 10, functions(F), false);
    assertTrue(quarantine.announce(again).isEmpty());
    assertTrue(!quarantine.runIn("1"));
  }

  @Test
  public void anotherAttemptBesideTheFirstRunsLikeIt() {
    quarantine.announce(running("1", 10, F));
    assertTrue(
        quarantine.announce(new Announcement("2", 1, 11, 7, 10, functions(F), false)).isEmpty());
  }

  @Test
  public void messagesCrossAsTheyAre() {
    Announcement announcement = running("1", 10, F, G);
    assertEquals(announcement, AdmissionMessage.decoded(announcement.encoded()));
    Withdrawal withdrawal = new Withdrawal(10, 3);
    assertEquals(withdrawal, AdmissionMessage.decoded(withdrawal.encoded()));
    Contention contention = new Contention(48, functions(F, G));
    assertEquals(contention, AdmissionMessage.decoded(contention.encoded()));
    MovedToShared moved = new MovedToShared("digest");
    assertEquals(moved, AdmissionMessage.decoded(moved.encoded()));
    MovedToWorkers refused = new MovedToWorkers("another version", functions(F, G));
    assertEquals(refused, AdmissionMessage.decoded(refused.encoded()));
  }
}
