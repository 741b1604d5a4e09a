package io.pyflow.admission;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.pyflow.config.PyFlowConf;
import java.util.List;
import org.apache.spark.SparkConf;
import org.junit.Test;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

public class PermissionTest {
  private static final String ALLOWED = PyFlowConf.ALLOWED().key();

  private static Option<String> refusal(String allowed, String... names) {
    SparkConf conf = new SparkConf(false).set(ALLOWED, allowed);
    return Permission.refusal(CollectionConverters.asScala(List.of(names)).toSeq(), conf);
  }

  private static boolean mayRun(String allowed, String... names) {
    return refusal(allowed, names).isEmpty();
  }

  @Test
  public void allMayRun() {
    assertTrue(mayRun("true", "where", "shout"));
    assertTrue(mayRun(" TRUE ", "where"));
  }

  @Test
  public void noneMayRun() {
    assertEquals(
        "thread mode is not allowed in this application (" + ALLOWED + "=false)",
        refusal("FALSE", "where").get());
  }

  @Test
  public void functionsOfTheseNamesMayRun() {
    assertTrue(mayRun("shout", "shout"));
    assertFalse(mayRun("shout", "shouts"));
    assertTrue(mayRun("other, wh?re", "where"));
    assertFalse(mayRun("other, wh?re", "whre"));
    assertTrue(mayRun("s*,where.x", "shout", "s"));
    assertFalse(mayRun("s*,where.x", "whereax"));
    assertTrue(mayRun("<lambda>", "<lambda>"));
  }

  @Test
  public void allFunctionsOfAnOperatorMustBeAllowed() {
    assertEquals(
        "shout is not among the functions allowed in thread mode (" + ALLOWED + "=wh?re)",
        refusal("wh?re", "where", "shout").get());
  }

  @Test
  public void aListHasNoEmptyNames() {
    Exception refused =
        assertThrows(IllegalArgumentException.class, () -> refusal("where,,shout", "where"));
    assertTrue(refused.getMessage().contains("a list of names without empty ones"));
  }
}
