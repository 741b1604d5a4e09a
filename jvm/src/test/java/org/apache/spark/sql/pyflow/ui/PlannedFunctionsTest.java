package org.apache.spark.sql.pyflow.ui;

import static org.junit.Assert.assertEquals;

import java.util.List;
import org.junit.Test;
import scala.jdk.javaapi.CollectionConverters;

public class PlannedFunctionsTest {

  private static List<String> names(String expressions) {
    return CollectionConverters.asJava(PlannedFunctions.namesIn(expressions));
  }

  @Test
  public void functionsOfARowAreCalls() {
    assertEquals(List.of("score", "clean"), names("[score(id#1L)#5L, clean(name#2)#6], [a#1]"));
  }

  @Test
  public void aChainIsOneFunction() {
    assertEquals(List.of("outer"), names("[outer(inner(id#1L)#2)#5L]"));
  }

  @Test
  public void argumentsMayHaveParentheses() {
    assertEquals(List.of("score"), names("[score((id#1L + abs(id#1L)))#5L]"));
  }

  @Test
  public void functionsOfBatchesStandAmongColumns() {
    assertEquals(List.of("add"), names("MapInPandas add(id#1L)#4, [sum#5L], false"));
    assertEquals(List.of("<lambda>"), names("[key#1], <lambda>(key#1, v#2)#4, [v#5L]"));
  }

  @Test
  public void whatIsNotClosedIsNone() {
    assertEquals(List.of(), names("score(id#1L"));
    assertEquals(List.of(), names("(id#1L)#2"));
  }
}
