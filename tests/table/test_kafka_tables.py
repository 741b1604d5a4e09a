"""Tables of topics of Kafka, with a real broker."""

from __future__ import annotations

import datetime
import json
import time

import pytest

from pyflow.util.exceptions import TableException

pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")

from benchmarks.topics import Topic


@pytest.fixture
def topic(kafka, tmp_path):
    return Topic(kafka.address, tmp_path.name, partitions=2)


def created(t_env, name, columns, where, connector="kafka", **options):
    given = {
        "connector": connector,
        "topic": where.name,
        "properties.bootstrap.servers": where.address,
        **{key.replace("_", "-").replace("--", "."): value for key, value in options.items()},
    }
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items() if value is not None)
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({pairs})")


ALL = {"scan__startup__mode": "earliest-offset", "scan__bounded__mode": "latest-offset"}


def read(t_env, query):
    with t_env.execute_sql(query).collect() as rows:
        return [(str(row.get_row_kind()), *row) for row in rows]


def test_records_are_written_and_read_with_key_and_metadata(streaming, topic):
    columns = (
        "k_id INT, name STRING, h MAP<STRING, BYTES> METADATA FROM 'headers', "
        "at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL, `offset` BIGINT METADATA VIRTUAL, "
        "topic STRING METADATA VIRTUAL"
    )
    formats = {
        "key__format": "json",
        "key__fields": "k_id",
        "key__fields_prefix": "k_",
        "value__format": "json",
        "value__fields_include": "EXCEPT_KEY",
    }
    created(streaming, "t", columns, topic, **formats, **ALL)
    before = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=1)
    rows = "(1, 'x', MAP['a', X'00ff']), (2, 'y', MAP['a', X'01'])"
    streaming.execute_sql(f"INSERT INTO t VALUES {rows}").wait()
    records = {record.key: record.value for record in topic.records()}
    assert records == {'{"id":1}': '{"name":"x"}', '{"id":2}': '{"name":"y"}'}
    found = read(streaming, "SELECT k_id, name, h, at, `offset`, topic FROM t")
    assert sorted(row[:3] for row in found) == [("+I", 1, "x"), ("+I", 2, "y")]
    assert {bytes(row[3]["a"]) for row in found} == {b"\x00\xff", b"\x01"}
    utc = datetime.timezone.utc
    assert all(row[4].replace(tzinfo=row[4].tzinfo or utc) > before for row in found)
    assert {row[6] for row in found} == {topic.name}


def test_where_reading_begins_and_ends(streaming, kafka, tmp_path):
    topic = Topic(kafka.address, tmp_path.name)
    topic.send(["1", "2"])
    topic.flush()
    time.sleep(0.01)
    between = int(time.time() * 1000)
    time.sleep(0.01)
    topic.send(["3", "4"])
    topic.flush()

    def values(**options):
        streaming.execute_sql("DROP TABLE IF EXISTS t")
        created(streaming, "t", "a STRING", topic, format="raw", **{**ALL, **options})
        return [row[1] for row in read(streaming, "SELECT a FROM t")]

    offsets = {"scan__startup__mode": "specific-offsets"}
    assert values() == ["1", "2", "3", "4"]
    assert values(**offsets, scan__startup__specific_offsets="partition:0,offset:3") == ["4"]
    after = {"scan__startup__mode": "timestamp", "scan__startup__timestamp_millis": between}
    assert values(**after) == ["3", "4"]
    until = {"scan__bounded__mode": "timestamp", "scan__bounded__timestamp_millis": between}
    assert values(**until) == ["1", "2"]
    reset = {"scan__startup__mode": None, "properties__auto__offset__reset": "earliest"}
    assert values(**reset, properties__group__id="some") == ["1", "2", "3", "4"]
    with pytest.raises(TableException, match=r"'scan.startup.mode' = 'group-offsets'"):
        values(scan__startup__mode=None)


def test_a_pattern_of_topics_matches_whole_names(streaming, kafka, tmp_path):
    name = tmp_path.name
    for each in [f"{name}-1", f"{name}-22", f"more-{name}-1"]:
        topic = Topic(kafka.address, each)
        topic.send([each])
        topic.flush()
    pattern = {"topic": None, "topic_pattern": rf"{name}-\d|{name}"}
    created(streaming, "t", "a STRING", topic, format="raw", **ALL, **pattern)
    assert read(streaming, "SELECT a FROM t") == [("+I", f"{name}-1")]


def test_bounded_topics_are_read_by_version_2_of_sparks_sources(streaming, spark, topic):
    created(streaming, "t", "a STRING", topic, format="raw", **ALL)
    before = spark.conf.get("spark.sql.sources.useV1SourceList")
    plan = streaming.from_path("t").to_spark()._jdf.queryExecution().executedPlan().toString()
    assert "BatchScan KafkaTable" in plan
    assert spark.conf.get("spark.sql.sources.useV1SourceList") == before


def test_changes_go_through_a_topic(streaming, kafka, tmp_path):
    topic = Topic(kafka.address, tmp_path.name)
    created(streaming, "t", "word STRING, n BIGINT", topic, format="debezium-json", **ALL)
    words = streaming.from_elements([("a",), ("b",), ("a",)], ["word"])
    streaming.create_temporary_view("words", words)
    streaming.execute_sql("INSERT INTO t SELECT word, COUNT(*) FROM words GROUP BY word").wait()
    expected = [("+I", "a", 1), ("+I", "b", 1), ("-D", "a", 1), ("+I", "a", 2)]
    assert read(streaming, "SELECT * FROM t") == expected


def test_a_table_with_a_key_in_a_topic(streaming, topic):
    columns = "word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED"
    formats = {
        "key__format": "json",
        "value__format": "avro",
        "scan__bounded__mode": "latest-offset",
    }
    created(streaming, "t", columns, topic, connector="upsert-kafka", **formats)
    words = streaming.from_elements([("a",), ("b",), ("a",)], ["word"])
    streaming.create_temporary_view("words", words)
    query = "INSERT INTO t SELECT word, COUNT(*) FROM words GROUP BY word"
    streaming.execute_sql(query).wait()
    assert sorted(read(streaming, "SELECT * FROM t")) == [("+I", "a", 2), ("+I", "b", 1)]


def test_a_damaged_record_of_avro_is_an_error(streaming, topic):
    created(streaming, "t", "a STRING NOT NULL, b BIGINT", topic, format="avro", **ALL)
    streaming.execute_sql("INSERT INTO t SELECT 'x', CAST(1 AS BIGINT)").wait()
    assert read(streaming, "SELECT * FROM t") == [("+I", "x", 1)]
    (record,) = topic.records()
    topic.send([record.value.encode()[:1]])
    topic.flush()
    with pytest.raises(Exception, match=r"Malformed (records|Avro messages) are detected"):
        read(streaming, "SELECT * FROM t")


def test_records_without_a_value_delete(streaming, topic):
    columns = "word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED"
    formats = {
        "key__format": "raw",
        "value__format": "json",
        "scan__bounded__mode": "latest-offset",
    }
    created(streaming, "t", columns, topic, connector="upsert-kafka", **formats)
    for value in ({"n": 1}, {"n": 1}, {"n": 2}, None, {"n": 3}):
        topic.send([None if value is None else json.dumps({"word": "a", **value})], key="a")
    topic.send([None], key="never there")
    topic.flush()
    assert read(streaming, "SELECT * FROM t") == [
        ("+I", "a", 1),
        ("-U", "a", 1),
        ("+U", "a", 2),
        ("-D", "a", 2),
        ("+I", "a", 3),
    ]


def taken(rows, count):
    return [(str(row.get_row_kind()), *row) for _, row in zip(range(count), rows)]


def test_the_newest_rows_of_keys_come_without_end(streaming, kafka, tmp_path, spark):
    topic = Topic(kafka.address, tmp_path.name)
    columns = "word STRING, n BIGINT, p INT METADATA FROM 'partition' VIRTUAL, twice AS n * 2"
    key = "PRIMARY KEY (word) NOT ENFORCED"
    formats = {"key__format": "raw", "value__format": "json"}
    created(streaming, "t", f"{columns}, {key}", topic, connector="upsert-kafka", **formats)

    def send(word, *values):
        texts = [None if n is None else json.dumps({"word": word, "n": n}) for n in values]
        topic.send(texts, key=word)
        topic.flush()

    send("a", 1, 1, 2)
    send("never there", None)
    with streaming.execute_sql("SELECT * FROM t").collect() as rows:
        first = [("+I", "a", 1, 0, 2), ("-U", "a", 1, 0, 2), ("+U", "a", 2, 0, 4)]
        assert taken(rows, 3) == first
        # What is known of a key is known in the next batch.
        send("a", 2, None, 3)
        assert taken(rows, 2) == [("-D", "a", 2, 0, 4), ("+I", "a", 3, 0, 6)]
    total = streaming.execute_sql("SELECT SUM(n), COUNT(*) FROM t")
    with total.collect() as rows:
        send("b", 5)
        found = taken(rows, 1)
        while found[-1][1:] != (8, 2):
            found += taken(rows, 1)
    assert ("-U", 3, 1) in found


CHANGES = {
    "debezium-json": [
        {"before": None, "after": {"word": "a", "n": 1}, "op": "c"},
        {"before": {"word": "a", "n": 1}, "after": {"word": "a", "n": 2}, "op": "u"},
        {"before": {"word": "a", "n": 2}, "after": None, "op": "d"},
    ],
    "canal-json": [
        {"data": [{"word": "a", "n": "1"}], "old": None, "type": "INSERT"},
        {"data": [{"word": "a", "n": "2"}], "old": [{"n": "1"}], "type": "UPDATE"},
        {"data": [{"word": "a", "n": "2"}], "old": None, "type": "DELETE"},
    ],
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_databases_come_without_end(streaming, kafka, tmp_path, name):
    topic = Topic(kafka.address, tmp_path.name)
    start = {"format": name, "scan__startup__mode": "earliest-offset"}
    columns = "word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED"
    created(streaming, "t", columns, topic, **start)
    texts = [json.dumps(each) for each in CHANGES[name]]
    topic.send(texts[:2])
    topic.flush()
    with streaming.execute_sql("SELECT word, n FROM t WHERE n < 9").collect() as rows:
        first = [("+I", "a", 1), ("-U", "a", 1), ("+U", "a", 2)]
        assert taken(rows, 3) == first
        topic.send(texts[2:])
        topic.flush()
        assert taken(rows, 1) == [("-D", "a", 2)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": None}, "required options are missing: format"),
        ({"format": "orc"}, "'format' is 'orc', expected one of avro, canal-json, csv"),
        ({"properties__bootstrap__servers": None}, "missing: properties.bootstrap.servers"),
        (
            {"properties__bootstrap__servers": "127.0.0.1:1"},
            "no broker can be reached at option 'properties.bootstrap.servers' = '127.0.0.1:1'",
        ),
        ({"properties__bootstrap__servers": "x"}, "'properties.bootstrap.servers' is 'x'"),
        ({"topic": None}, "exactly one of the options 'topic' and 'topic-pattern'"),
        (
            {"scan__startup__mode": "x"},
            "'scan.startup.mode' is 'x', expected one of earliest-offset",
        ),
        ({"scan__startup__mode": "timestamp"}, "'scan.startup.timestamp-millis' is missing"),
        ({"key__format": "json"}, "'key.format' and 'key.fields' must be set together"),
        (
            {"key__format": "json", "key__fields": "x"},
            "could not find the field 'x' of option 'key.fields'",
        ),
    ],
)
def test_what_is_wrong_is_said_with_table_option_and_value(streaming, kafka, options, message):
    class Nowhere:
        name, address = "some", kafka.address

    given = {"format": "json", **ALL, **options}
    created(streaming, "t", "a INT", Nowhere, **given)
    with pytest.raises(TableException, match=f"default_database.t.*{message}"):
        streaming.from_path("t")


def test_metadata_that_cannot_be_read_or_written(streaming, topic):
    created(streaming, "t", "a INT, b INT METADATA FROM 'x'", topic, format="json", **ALL)
    with pytest.raises(TableException, match="invalid metadata key 'x' in column 'b'"):
        streaming.from_path("t")
    created(streaming, "u", "a INT, `offset` BIGINT METADATA", topic, format="json", **ALL)
    with pytest.raises(TableException, match=r"invalid metadata key 'offset'.*VIRTUAL"):
        streaming.execute_sql("INSERT INTO u VALUES (1, CAST(2 AS BIGINT))")
