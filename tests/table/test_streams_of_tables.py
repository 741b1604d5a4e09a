"""Tables that become data streams, and data streams that become tables."""

from __future__ import annotations

import json

import pytest

from pyflow.common import (
    Configuration,
    Encoder,
    JobStatus,
    Row,
    RowKind,
    Time,
    Types,
    WatermarkStrategy,
)
from pyflow.datastream import (
    MapFunction,
    ProcessWindowFunction,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from pyflow.datastream.connectors.datagen import DataGeneratorSource
from pyflow.datastream.connectors.file_system import FileSink
from pyflow.datastream.testing import TestStream
from pyflow.datastream.window import TumblingEventTimeWindows
from pyflow.table import (
    ChangelogMode,
    DataTypes,
    EnvironmentSettings,
    Schema,
    StreamTableEnvironment,
)
from pyflow.table.expressions import col
from pyflow.table.udf import udf
from pyflow.util.exceptions import TableException
from sessions import wait_until

PAIR = Types.ROW_NAMED(["name", "number"], [Types.STRING(), Types.INT()])
ROWS = [("a", 1), ("b", 2), ("a", 3)]


@pytest.fixture
def streams(environment):
    # Which gives the session its settings back.
    environment()
    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


@pytest.fixture
def tables(streams):
    return StreamTableEnvironment.create(streams)


def collected(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


def rows_of(table):
    with table.execute().collect() as rows:
        return [tuple(row) for row in rows]


def test_what_a_program_computes_becomes_a_table(streams, tables):
    ds = streams.from_collection(ROWS).map(lambda v: Row(v[0] * 2, v[1] + 1), PAIR)
    table = tables.from_data_stream(ds).where(col("number") > 2)
    assert rows_of(table) == [("bb", 3), ("aa", 4)]


def test_state_is_kept_before_a_table(streams, tables):
    ds = streams.from_collection(ROWS, PAIR).key_by(lambda v: v[0]).sum(1)
    assert sorted(rows_of(tables.from_data_stream(ds))) == [("a", 1), ("a", 4), ("b", 2)]


def test_an_unbounded_stream_becomes_a_table(streams, tables):
    source = TestStream(PAIR).add_elements([Row(*each) for each in ROWS])
    ds = streams.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    table = tables.from_data_stream(ds.map(lambda row: row, PAIR))
    found = []
    with table.execute().collect() as rows:
        for row in rows:
            found.append(tuple(row))
            if len(found) == 3:
                break
    assert found == ROWS


def told(file):
    """A function that writes to a file when it is opened and closed.

    It is not of this module, which imports what isolated interpreters refuse.
    """

    class Told(MapFunction):
        def open(self, runtime_context):
            self.say("open")

        def close(self):
            self.say("close")

        def say(self, what):
            with file.open("a") as lines:
                lines.write(f"{what}\n")

        def map(self, value):
            return value

    return Told()


def test_functions_of_an_unbounded_stream_are_closed_with_the_query_of_its_table(
    streams, tables, tmp_path
):
    calls = tmp_path / "calls"
    source = TestStream(Types.INT()).add_elements([1, 2]).add_elements([3])
    ds = streams.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    ds = ds.map(told(calls), Types.INT()).key_by(lambda value: value)
    ds = ds.map(told(calls), Types.INT())
    with tables.from_data_stream(ds).execute().collect() as rows:
        assert sorted(next(rows)[0] for _ in range(3)) == [1, 2, 3]
        before = calls.read_text().split()
    assert set(before) == {"open"}
    assert calls.read_text().split() == before + ["close"] * len(before)


def test_rows_of_a_table_become_a_stream(streams, tables):
    table = tables.from_elements(
        ROWS,
        DataTypes.ROW(
            [
                DataTypes.FIELD("name", DataTypes.STRING()),
                DataTypes.FIELD("number", DataTypes.INT()),
            ]
        ),
    )
    ds = tables.to_data_stream(table.where(col("number") > 1))
    found = collected(ds.map(lambda row: (row.name, row.number, type(row).__name__)))
    assert found == [("b", 2, "Row"), ("a", 3, "Row")]


def test_rows_that_change_are_refused_as_a_stream_and_become_a_changelog(streams, tables):
    table = tables.from_elements(ROWS, ["name", "number"])
    sums = table.group_by(col("name")).select(col("name"), col("number").sum.alias("sum"))
    with pytest.raises(TableException, match="doesn't support consuming update"):
        tables.to_data_stream(sums)
    found = collected(tables.to_changelog_stream(sums))
    left = {}
    for row in found:
        if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
            left[row[0]] = row[1]
        else:
            assert left.pop(row[0]) == row[1]
    assert left == {"a": 4, "b": 2}


def test_a_stream_of_changes_becomes_a_table(streams, tables):
    changes = [
        Row.of_kind(RowKind.INSERT, "a", 1),
        Row.of_kind(RowKind.INSERT, "b", 2),
        Row.of_kind(RowKind.UPDATE_BEFORE, "a", 1),
        Row.of_kind(RowKind.UPDATE_AFTER, "a", 5),
        Row.of_kind(RowKind.DELETE, "b", 2),
    ]
    table = tables.from_changelog_stream(streams.from_collection(changes, PAIR))
    found = collected(
        tables.to_retract_stream(table.select(col("number").sum), Types.ROW([Types.INT()]))
    )
    is_added, row = found[-1]
    assert (is_added, row.get_row_kind(), row.f0) == (True, RowKind.UPDATE_AFTER, 5)


def test_a_stream_without_a_type_is_refused(streams, tables):
    with pytest.raises(TableException, match="has no type"):
        tables.from_data_stream(streams.from_collection(ROWS).map(lambda value: value))


UPSERTS = [
    Row.of_kind(RowKind.INSERT, "a", 12),
    Row.of_kind(RowKind.INSERT, "b", 5),
    Row.of_kind(RowKind.UPDATE_AFTER, "a", 100),
    Row.of_kind(RowKind.INSERT, "c", 1),
    Row.of_kind(RowKind.DELETE, "b", 5),
]


@pytest.mark.parametrize("is_bounded", [True, False])
def test_the_newest_rows_of_keys_become_a_table(streams, tables, is_bounded):
    ds = streams.from_collection(UPSERTS, PAIR)
    if not is_bounded:
        source = TestStream(PAIR).add_elements(UPSERTS[:2]).add_elements(UPSERTS[2:])
        ds = streams.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    schema = Schema.new_builder().column("number", "BIGINT").column("name", "STRING")
    table = tables.from_changelog_stream(
        ds, schema.primary_key("name").build(), ChangelogMode.upsert()
    )
    sums = table.select(col("number").sum.alias("sum"), col("number").count.alias("rows"))
    last = None
    with sums.execute().collect() as rows:
        for row in rows:
            if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                last = tuple(row)
            if last == (101, 2):
                break
    assert last == (101, 2)


def test_changes_without_a_key_have_rows_before_updates(streams, tables):
    with pytest.raises(TableException, match="primary key is fields of its rows"):
        tables.from_changelog_stream(
            streams.from_collection(UPSERTS, PAIR), None, ChangelogMode.upsert()
        )


# Insertions as a part of a program


@pytest.fixture(params=["thread", "process"])
def attached(request, environment, tmp_path):
    """Makes an environment of streams and one of tables over it, in each execution mode."""
    environment()

    def make(mode=RuntimeExecutionMode.STREAMING):
        configuration = Configuration()
        configuration.set_string("python.execution-mode", request.param)
        checkpoints = tmp_path / "checkpoints"
        configuration.set_string("execution.checkpointing.dir", checkpoints.as_uri())
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(1).set_runtime_mode(mode)
        return env, StreamTableEnvironment.create(env)

    return make


def create(t_env, name, directory):
    """Create a table of files, and return what reads its lines."""
    t_env.execute_sql(
        f"CREATE TABLE {name} (name STRING, number INT) WITH ('connector' = 'filesystem', "
        f"'path' = '{(directory / name).as_uri()}', 'format' = 'csv')"
    )
    return lambda: lines_in(directory / name)


def lines_in(directory):
    files = [
        path
        for path in directory.rglob("*")
        if path.is_file() and not any(p[0] in "._" for p in path.relative_to(directory).parts)
    ]
    return sorted(line for path in files for line in path.read_text().splitlines())


def file_sink(directory):
    return FileSink.for_row_format(directory.as_uri(), Encoder.simple_string_encoder()).build()


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
def test_insertions_run_with_the_program_that_they_are_attached_to(attached, tmp_path, mode):
    env, t_env = attached(mode)
    copies, totals = create(t_env, "copies", tmp_path), create(t_env, "totals", tmp_path)
    ds = env.from_collection(ROWS, PAIR)
    t_env.create_temporary_view("given", t_env.from_data_stream(ds.map(lambda v: v, PAIR)))
    statements = t_env.create_statement_set()
    statements.add_insert("copies", t_env.from_path("given"))
    statements.add_insert_sql("INSERT INTO totals SELECT name, number + 1 FROM given")
    statements.attach_as_datastream()
    ds.map(lambda v: v[0], Types.STRING()).sink_to(file_sink(tmp_path / "names"))
    assert copies() == totals() == []

    env.execute("both")

    assert copies() == ["a,1", "a,3", "b,2"]
    assert totals() == ["a,2", "a,4", "b,3"]
    assert lines_in(tmp_path / "names") == ["a", "a", "b"]


def test_what_has_run_is_attached_no_more(tables, streams, tmp_path):
    copies = create(tables, "copies", tmp_path)
    statements = tables.create_statement_set()
    statements.add_insert_sql("INSERT INTO copies VALUES ('a', 1)")
    statements.attach_as_datastream()
    with pytest.raises(TableException, match="No statements"):
        statements.execute()
    client = streams.execute_async("only insertions")
    client.get_job_execution_result().result()
    assert copies() == ["a,1"]
    with pytest.raises(RuntimeError, match="No operators defined"):
        streams.execute()


def test_a_set_without_statements_attaches_nothing(tables, streams):
    tables.create_statement_set().attach_as_datastream()
    with pytest.raises(RuntimeError, match="No operators defined"):
        streams.execute()


def numbers(t_env):
    """Create an unbounded table of numbers."""
    t_env.execute_sql(
        "CREATE TABLE numbers (name STRING, number INT) WITH ('connector' = 'datagen', "
        "'rows-per-second' = '20', 'fields.name.length' = '1')"
    )


def test_unbounded_insertions_end_with_the_job_that_is_cancelled(attached, tmp_path, spark):
    env, t_env = attached()
    numbers(t_env)
    copies, few = create(t_env, "copies", tmp_path), create(t_env, "few", tmp_path)
    statements = t_env.create_statement_set()
    statements.add_insert_sql("INSERT INTO copies SELECT name, number FROM numbers")
    statements.add_insert_sql("INSERT INTO few VALUES ('a', 1)")
    statements.attach_as_datastream()
    source = DataGeneratorSource(str, rate=20, type_info=Types.STRING())
    ds = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    ds.sink_to(file_sink(tmp_path / "texts"))

    client = env.execute_async("both")
    try:
        wait_until(lambda: copies() and few() and lines_in(tmp_path / "texts"), "all is written")
        assert client.get_job_status().result() == JobStatus.RUNNING
        assert len(spark.streams.active) == 2
    finally:
        client.cancel().result()

    assert client.get_job_status().result() == JobStatus.CANCELED
    assert spark.streams.active == []


@pytest.mark.parametrize("attached", ["thread"], indirect=True)
def test_unbounded_insertions_are_not_started_beside_streams_from_a_savepoint(
    attached, tmp_path, spark
):
    def program(**settings):
        env, t_env = attached()
        configuration = Configuration()
        for key, value in settings.items():
            configuration.set_string(key, value)
        env.configure(configuration)
        source = DataGeneratorSource(str, rate=20, type_info=Types.STRING())
        ds = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
        ds.key_by(lambda text: text).map(lambda text: text, Types.STRING()).print()
        return env, t_env

    client = program()[0].execute_async("both")
    # A savepoint has something to go on from when a batch has been committed.
    wait_until(
        lambda: any(
            (each.lastProgress or {"batchId": 0})["batchId"] for each in spark.streams.active
        ),
        "a batch is committed",
    )
    path = client.stop_with_savepoint(False, (tmp_path / "savepoints").as_uri()).result()
    env, t_env = program(
        **{
            "execution.savepoint.path": path,
            "execution.checkpointing.dir": (tmp_path / "others").as_uri(),
        }
    )
    numbers(t_env)
    create(t_env, "copies", tmp_path)
    statements = t_env.create_statement_set()
    statements.add_insert_sql("INSERT INTO copies SELECT name, number FROM numbers")
    statements.attach_as_datastream()
    with pytest.raises(TableException, match=r"insertions of tables \(.*copies\) have none"):
        env.execute("both")
    assert not (tmp_path / "others").exists()


@udf(result_type=DataTypes.INT())
def refused(number):
    raise ValueError("not that number")


@pytest.mark.parametrize("source", ["numbers", "(VALUES ('a', 1)) AS few (name, number)"])
def test_an_insertion_that_fails_fails_the_job(attached, tmp_path, spark, source):
    env, t_env = attached()
    numbers(t_env)
    create(t_env, "copies", tmp_path)
    t_env.create_temporary_function("refused", refused)
    statements = t_env.create_statement_set()
    statements.add_insert_sql(f"INSERT INTO copies SELECT name, refused(number) FROM {source}")
    statements.attach_as_datastream()
    texts = DataGeneratorSource(str, rate=20, type_info=Types.STRING())
    ds = env.from_source(texts, WatermarkStrategy.no_watermarks(), "numbers")
    ds.sink_to(file_sink(tmp_path / "texts"))
    with pytest.raises(Exception, match="not that number"):
        env.execute()
    assert spark.streams.active == []


def test_a_stream_that_fails_ends_unbounded_insertions(attached, tmp_path, spark):
    env, t_env = attached()
    numbers(t_env)
    create(t_env, "copies", tmp_path)
    statements = t_env.create_statement_set()
    statements.add_insert_sql("INSERT INTO copies SELECT name, number FROM numbers")
    statements.attach_as_datastream()

    def fail(value):
        raise ValueError("not that element")

    env.from_collection([1]).map(fail).print()
    with pytest.raises(Exception, match="not that element"):
        env.execute()
    assert spark.streams.active == []


def test_functions_that_attached_insertions_have_opened_are_closed(attached, tmp_path):
    env, tables = attached()
    calls = tmp_path / "calls"
    copies = create(tables, "copies", tmp_path)
    source = TestStream(PAIR).add_elements([Row(*each) for each in ROWS])
    ds = env.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    statements = tables.create_statement_set()
    statements.add_insert("copies", tables.from_data_stream(ds.map(told(calls), PAIR)))
    statements.attach_as_datastream()
    client = env.execute_async()
    wait_until(lambda: copies() == ["a,1", "a,3", "b,2"], "all is written")
    before = calls.read_text().split()
    client.cancel().result()
    assert set(before) == {"open"}
    assert calls.read_text().split() == before + ["close"] * len(before)


def test_the_plan_of_a_program_names_what_is_attached(tables, streams, tmp_path):
    create(tables, "copies", tmp_path)
    statements = tables.create_statement_set()
    statements.add_insert_sql("INSERT INTO copies VALUES ('a', 1)")
    statements.attach_as_datastream()
    streams.from_collection([1]).print()
    nodes = json.loads(streams.get_execution_plan())["nodes"]
    sinks = [node["type"] for node in nodes if node["pact"] == "Data Sink"]
    assert [sink for sink in sinks if "copies" in sink]
    assert len({node["id"] for node in nodes}) == len(nodes) == 3


def test_collecting_a_stream_leaves_out_what_is_attached(tables, streams, tmp_path, caplog):
    copies = create(tables, "copies", tmp_path)
    statements = tables.create_statement_set()
    statements.add_insert_sql("INSERT INTO copies VALUES ('a', 1)")
    statements.attach_as_datastream()
    assert collected(streams.from_collection([1])) == [1]
    assert "copies" in caplog.text
    assert copies() == []


def test_insertions_need_an_environment_to_be_attached_to(environment, batch):
    settings = EnvironmentSettings.in_streaming_mode()
    for t_env in (batch, StreamTableEnvironment.create(environment_settings=settings)):
        statements = t_env.create_statement_set()
        with pytest.raises(TableException, match=r"call StreamTableEnvironment.create\(env\)"):
            statements.attach_as_datastream()


def test_elements_of_appended_and_retracted_streams_are_rows(tables, streams):
    table = tables.from_elements([("a", 1), ("a", 2)], ["word", "n"])
    row = Types.ROW_NAMED(["key", "value"], [Types.STRING(), Types.LONG()])
    appended = tables.to_append_stream(table, row)
    assert found_in(appended.map(lambda each: f"{each.key} {each['value']}")) == ["a 1", "a 2"]
    pairs = tables.to_append_stream(table, Types.TUPLE([Types.STRING(), Types.LONG()]))
    assert found_in(pairs) == [("a", 1), ("a", 2)]

    tables.create_temporary_view("words", table)
    counted = tables.sql_query("SELECT word, SUM(n) AS n FROM words GROUP BY word")
    retracted = tables.to_retract_stream(counted, row)
    kinds = retracted.map(lambda each: f"{each[0]} {each[1].get_row_kind()} {each[1].value}")
    assert found_in(kinds)[-1] == "True +U 3"


def found_in(stream):
    with stream.execute_and_collect() as elements:
        return list(elements)


class Ends(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield context.window().end


def test_the_watermark_of_a_table_goes_on_in_its_stream(tables):
    tables.execute_sql("""
        CREATE TABLE seconds (
          n INT, ts AS CAST(CURRENT_TIMESTAMP AS TIMESTAMP_LTZ(3)), WATERMARK FOR ts AS ts
        ) WITH ('connector' = 'datagen', 'rows-per-second' = '5')
    """)
    stream = tables.to_data_stream(tables.sql_query("SELECT n, ts FROM seconds WHERE n <> 0"))
    window = TumblingEventTimeWindows.of(Time.seconds(1))
    ends = stream.key_by(lambda row: 0).window(window).process(Ends())
    with ends.execute_and_collect() as found:
        first, second = next(found), next(found)
    # There may be seconds without rows.
    assert second > first
    assert (second - first) % 1000 == 0


def test_a_table_that_keeps_state_by_its_watermark_says_so(tables, caplog):
    tables.execute_sql("""
        CREATE TABLE seconds (
          n INT, ts AS CAST(CURRENT_TIMESTAMP AS TIMESTAMP_LTZ(3)), WATERMARK FOR ts AS ts
        ) WITH ('connector' = 'datagen', 'rows-per-second' = '5')
    """)
    tables.to_data_stream(
        tables.sql_query(
            "SELECT window_time, COUNT(*) FROM TABLE(TUMBLE(TABLE seconds, DESCRIPTOR(ts), "
            "INTERVAL '1' SECOND)) GROUP BY window_start, window_end, window_time"
        )
    )
    assert "windows and timers of the event time do not fire behind to_data_stream()" in caplog.text
