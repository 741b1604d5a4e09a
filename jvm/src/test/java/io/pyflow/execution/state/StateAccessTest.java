package io.pyflow.execution.state;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.encoders.RowEncoder;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.ImplicitGroupingKeyTracker;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl;
import org.apache.spark.sql.execution.streaming.state.NoPrefixKeyStateEncoderSpec;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreConf;
import org.apache.spark.sql.execution.streaming.state.StateStoreId;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider$;
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.pyflow.StateRows;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructType;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import scala.Option;

/** Requests of Python against a RocksDB store that Spark's state server has written, or reads. */
public class StateAccessTest {
  private static final int OPEN_VALUE = 2;
  private static final int OPEN_LIST = 3;
  private static final int OPEN_MAP = 4;
  private static final int NEXT = 9;
  private static final int EXISTS = 10;
  private static final int GET = 14;
  private static final int UPDATE = 15;
  private static final int APPEND = 16;
  private static final int UPDATE_OF_KEY = 21;
  private static final int VALUES = 24;
  private static final int ENTRIES = 25;
  private static final int GET_OF_KEYS = 33;
  private static final int UPDATE_OF_KEYS = 34;

  private static final StructType KEY = StructType.fromDDL("k string");
  private static final StructType VALUE = StructType.fromDDL("a int, b string");

  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private final ExpressionEncoder.Serializer<Row> toUnsafe =
      ExpressionEncoder.apply(RowEncoder.encoderFor(VALUE)).createSerializer();
  private StateStoreProvider provider;
  private StateStore store;

  @Before
  public void open() {
    SQLConf conf = new SQLConf();
    conf.setConfString(
        SQLConf.STATE_STORE_PROVIDER_CLASS().key(), RocksDBStateStoreProvider.class.getName());
    StateStoreId id = new StateStoreId(folder.getRoot().toString(), 0, 0, "default");
    provider =
        StateStoreProvider$.MODULE$.createAndInit(
            new StateStoreProviderId(id, UUID.randomUUID()),
            KEY,
            VALUE,
            new NoPrefixKeyStateEncoderSpec(KEY),
            true,
            new StateStoreConf(conf, scala.collection.immutable.Map$.MODULE$.empty()),
            new Configuration(),
            true,
            Option.empty());
    store = provider.getStore(0, Option.empty(), false, false);
  }

  @After
  public void close() {
    ImplicitGroupingKeyTracker.removeImplicitKey();
    store.abort();
    provider.close();
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private StatefulProcessorHandleImpl handle(ExpressionEncoder<?> keyEncoder) {
    return new StatefulProcessorHandleImpl(
        store,
        UUID.randomUUID(),
        (ExpressionEncoder) keyEncoder,
        TimeMode.None(),
        false,
        Option.empty(),
        Option.empty(),
        scala.collection.immutable.Map$.MODULE$.empty(),
        Option.empty());
  }

  private StatefulProcessorHandleImpl ofSpark() {
    ImplicitGroupingKeyTracker.setImplicitKey(RowFactory.create("key"));
    return handle(ExpressionEncoder.apply(RowEncoder.encoderFor(KEY)));
  }

  private static UnsafeRow key(String value) {
    var serializer = ExpressionEncoder.apply(RowEncoder.encoderFor(KEY)).createSerializer();
    return ((UnsafeRow) serializer.apply(RowFactory.create(value))).copy();
  }

  private static byte[] keyRow(String value) {
    return key(value).getBytes();
  }

  private StateAccess access() {
    StateRows.setKey(key("key"));
    return new StateAccess(handle(StateRows.encoder(KEY)), KEY.length(), 2, Option.empty());
  }

  private byte[] row(int a, String b) {
    return ((UnsafeRow) toUnsafe.apply(RowFactory.create(a, b))).getBytes();
  }

  private static byte[] framed(byte[]... rows) {
    int size = 0;
    for (byte[] row : rows) {
      size += Long.BYTES + row.length;
    }
    ByteBuffer framed = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    for (byte[] row : rows) {
      framed.putLong(row.length).put(row);
    }
    return framed.array();
  }

  private static byte[] request(String name) {
    String schema = VALUE.json().replace("\"", "\\\"");
    return String.format(
            "{\"name\": \"%s\", \"ttl\": null, \"schema\": \"%s\", \"value_schema\": \"%s\"}",
            name, schema, schema)
        .getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] chunk(long iterator, long sizeOfKeys, byte[] rows) {
    return ByteBuffer.allocate(16 + rows.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(iterator)
        .putLong(sizeOfKeys)
        .put(rows)
        .array();
  }

  @Test
  public void readsWhatSparkHasWritten() throws Exception {
    var handle = ofSpark();
    handle
        .getValueState("v", Encoders.row(VALUE), TTLConfig.NONE())
        .update(RowFactory.create(1, "x"));
    var list = handle.getListState("l", Encoders.row(VALUE), TTLConfig.NONE());
    for (int i = 0; i < 3; i++) {
      list.appendValue(RowFactory.create(i, null));
    }
    var map = handle.getMapState("m", Encoders.row(VALUE), Encoders.row(VALUE), TTLConfig.NONE());
    map.updateValue(RowFactory.create(5, "key"), RowFactory.create(6, "value"));

    StateAccess access = access();
    access.answer(OPEN_VALUE, request("v"));
    access.answer(OPEN_LIST, request("l"));
    access.answer(OPEN_MAP, request("m"));
    assertNotNull(access.answer(EXISTS, new byte[0]));
    assertArrayEquals(framed(row(1, "x")), access.answer(GET, new byte[0]));
    byte[] first = framed(row(0, null), row(1, null));
    assertArrayEquals(chunk(1, first.length, first), access.answer(VALUES | 1 << 8, new byte[0]));
    byte[] second = framed(row(2, null));
    byte[] iterator = new byte[] {1, 0, 0, 0, 0, 0, 0, 0};
    assertArrayEquals(chunk(0, second.length, second), access.answer(NEXT, iterator));
    byte[] key = framed(row(5, "key"));
    assertArrayEquals(
        chunk(0, key.length, framed(row(5, "key"), row(6, "value"))),
        access.answer(ENTRIES | 2 << 8, new byte[0]));
  }

  @Test
  public void readsAndWritesEntriesOfManyKeys() throws Exception {
    StateAccess access = access();
    access.answer(OPEN_MAP, request("m"));
    byte[] ofMap = row(1, "entry");
    byte[][] keys = {keyRow("one"), keyRow("two"), keyRow("three")};
    byte[] entries =
        framed(
            keys[0],
            ofMap,
            row(10, "a"),
            keys[1],
            ofMap,
            row(20, null),
            keys[2],
            ofMap,
            row(30, "c"));
    assertNull(access.answer(UPDATE_OF_KEYS, entries));
    assertNull(access.answer(UPDATE_OF_KEYS, framed(keys[1], ofMap, new byte[0])));

    byte[] wanted = framed(keys[2], ofMap, keys[1], ofMap, keys[0], ofMap);
    byte[] found = framed(row(30, "c"), row(10, "a"));
    byte[] expected =
        ByteBuffer.allocate(3 + found.length).put(new byte[] {1, 0, 1}).put(found).array();
    assertArrayEquals(expected, access.answer(GET_OF_KEYS, wanted));
    assertEquals(key("key"), ImplicitGroupingKeyTracker.getImplicitKeyOption().get());
  }

  @Test
  public void sparkReadsWhatPythonHasWritten() throws Exception {
    StateAccess access = access();
    access.answer(OPEN_VALUE, request("v"));
    access.answer(OPEN_LIST, request("l"));
    access.answer(OPEN_MAP, request("m"));
    assertNull(access.answer(EXISTS, new byte[0]));
    assertNull(access.answer(GET, new byte[0]));
    assertNull(access.answer(UPDATE, row(1, "x")));
    access.answer(APPEND | 1 << 8, row(2, null));
    access.answer(UPDATE_OF_KEY | 2 << 8, framed(row(5, "key"), row(6, "value")));

    var handle = ofSpark();
    var value = handle.getValueState("v", Encoders.row(VALUE), TTLConfig.NONE());
    assertEquals(RowFactory.create(1, "x"), value.get());
    var list = handle.getListState("l", Encoders.row(VALUE), TTLConfig.NONE());
    assertEquals(RowFactory.create(2, null), list.get().next());
    var map = handle.getMapState("m", Encoders.row(VALUE), Encoders.row(VALUE), TTLConfig.NONE());
    assertEquals(RowFactory.create(6, "value"), map.getValue(RowFactory.create(5, "key")));
  }

  @Test
  public void variablesAreOpenedOnce() throws Exception {
    StateAccess access = access();
    access.answer(OPEN_VALUE, request("v"));
    var error =
        assertThrows(IllegalStateException.class, () -> access.answer(OPEN_VALUE, request("v")));
    assertEquals("Value state v already exists", error.getMessage());
  }
}
