package org.apache.spark.sql.pyflow;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotSame;

import java.math.BigDecimal;
import java.sql.Date;
import java.sql.Timestamp;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.encoders.RowEncoder;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import org.junit.Test;
import scala.jdk.javaapi.CollectionConverters;

/** State in the store is what Spark's own encoder for rows writes there. */
public class StateRowsTest {
  private static final StructType SCHEMA =
      StructType.fromDDL(
          "a int, b string, c decimal(10,2), d decimal(38,10), e binary, f array<int>,"
              + " g map<string, double>, h struct<x: int, y: array<string>>, i timestamp, j date,"
              + " k boolean, l long NOT NULL");

  private static final List<Row> ROWS =
      Arrays.asList(
          RowFactory.create(
              1,
              "text",
              new BigDecimal("12.34"),
              new BigDecimal("-1234567890123456789.0123456789"),
              new byte[] {1, 2},
              CollectionConverters.asScala(Arrays.asList(1, null, 3)).toSeq(),
              CollectionConverters.asScala(Map.of("k", 1.5)),
              RowFactory.create(5, CollectionConverters.asScala(Arrays.asList("y", null)).toSeq()),
              Timestamp.valueOf("2024-05-06 07:08:09.123456"),
              Date.valueOf("2024-05-06"),
              true,
              7L),
          RowFactory.create(
              null, null, null, null, null, null, null, null, null, null, null, Long.MIN_VALUE));

  @Test
  public void rowsAreEncodedAsSparkEncodesThem() {
    var toUnsafe = ExpressionEncoder.apply(RowEncoder.encoderFor(SCHEMA)).createSerializer();
    var keep = StateRows.encoder(SCHEMA).createSerializer();
    for (Row row : ROWS) {
      UnsafeRow expected = ((UnsafeRow) toUnsafe.apply(row)).copy();
      assertArrayEquals(expected.getBytes(), ((UnsafeRow) keep.apply(expected)).getBytes());
    }
  }

  @Test
  public void rowsThatAreReadAreCopies() {
    var toUnsafe = ExpressionEncoder.apply(RowEncoder.encoderFor(SCHEMA)).createSerializer();
    var encoder = StateRows.encoder(SCHEMA);
    var bound =
        encoder.resolveAndBind(
            encoder.resolveAndBind$default$1(), encoder.resolveAndBind$default$2());
    var read = bound.createDeserializer();
    UnsafeRow first = ((UnsafeRow) toUnsafe.apply(ROWS.get(0))).copy();
    UnsafeRow row = read.apply(first);
    assertEquals(first, row);
    assertNotSame(first, row);
  }

  @Test
  public void schemasAreThoseOfSparkSEncoder() {
    assertEquals(
        ExpressionEncoder.apply(RowEncoder.encoderFor(SCHEMA)).schema(),
        StateRows.encoder(SCHEMA).schema());
  }
}
