"""The event time of a data stream as a column of its table, and its watermark."""

from __future__ import annotations

import datetime
import itertools
import re

import pytest

from pyflow.common import Configuration, Duration, Row, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner, WatermarkGenerator
from pyflow.datastream import ProcessFunction, StreamExecutionEnvironment
from pyflow.datastream.testing import TestStream
from pyflow.table import ChangelogMode, Schema, StreamTableEnvironment
from pyflow.table.expressions import col, lit, source_watermark
from pyflow.table.window import Tumble
from pyflow.util.exceptions import TableException

TYPE = Types.ROW_NAMED(["k", "ms", "n"], [Types.STRING(), Types.LONG(), Types.INT()])
ROWS = [("a", 1000, 1), ("b", 2000, 2), ("a", 2500, 3), ("a", 9000, 4)]
SOURCE = "SOURCE_WATERMARK()"
WINDOWS = """
    SELECT k, SUM(n) FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(rowtime), INTERVAL '2' SECOND))
    GROUP BY k, window_start, window_end
"""


@pytest.fixture(params=["thread", pytest.param("process", marks=pytest.mark.complete)])
def streams(request, environment):
    environment()
    configuration = Configuration()
    configuration.set_string("python.execution-mode", request.param)
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


@pytest.fixture
def tables(streams):
    tables = StreamTableEnvironment.create(streams)
    tables.get_config().set("table.local-time-zone", "Asia/Tokyo")
    return tables


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Latest(WatermarkGenerator):
    def __init__(self):
        self._latest = 0

    def on_event(self, value, timestamp, output):
        self._latest = max(self._latest, timestamp)

    def on_periodic_emit(self, output):
        output.emit_watermark(self._latest - 1)


class Times(ProcessFunction):
    def process_element(self, value, ctx):
        yield value[0], ctx.timestamp()


def strategy(made=None):
    made = made or WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0))
    return made.with_timestamp_assigner(Second())


def bounded(streams):
    stream = streams.from_collection(ROWS, TYPE)
    return stream.assign_timestamps_and_watermarks(strategy())


def builder():
    return Schema.new_builder()


def with_rowtime(data_type="TIMESTAMP_LTZ(3)", name="rowtime"):
    made = builder().column_by_metadata(name, data_type, None if name == "rowtime" else "rowtime")
    return made.watermark(name, SOURCE).build()


def rows_of(table):
    with table.execute().collect() as rows:
        return [tuple(row) for row in rows]


def clock(seconds, hour=0):
    return datetime.datetime(1970, 1, 1, hour) + datetime.timedelta(seconds=seconds)


def columns_of(table):
    lines = [line.strip(" ,") for line in str(table.get_resolved_schema()).splitlines()[1:-1]]
    columns = [line for line in lines if line.startswith("`")]
    return [re.sub(" (AS|METADATA).*", "", line) for line in columns]


# The values are PyFlink's: instants, and of a TIMESTAMP by an expression the wall clock of UTC.
@pytest.mark.parametrize(
    ("given", "column", "hour"),
    [
        pytest.param([with_rowtime()], "`rowtime` TIMESTAMP_LTZ(3) *ROWTIME*", 0, id="metadata"),
        pytest.param(
            [with_rowtime("TIMESTAMP(3)", "rt")], "`rt` TIMESTAMP(3) *ROWTIME*", 9, id="a clock"
        ),
        pytest.param(
            [
                builder()
                .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
                .watermark("rowtime", source_watermark())
                .build()
            ],
            "`rowtime` TIMESTAMP_LTZ(3) *ROWTIME*",
            0,
            id="an expression",
        ),
        pytest.param(
            [
                builder()
                .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
                .watermark("rowtime", "rowtime - INTERVAL '1' SECOND")
                .build()
            ],
            "`rowtime` TIMESTAMP_LTZ(3) *ROWTIME*",
            0,
            id="its own watermark",
        ),
        pytest.param(
            [
                builder()
                .column_by_expression("at", "TO_TIMESTAMP_LTZ(ms, 3)")
                .watermark("at", SOURCE)
                .build()
            ],
            "`at` TIMESTAMP_LTZ(3) *ROWTIME*",
            0,
            id="a computed column",
        ),
        pytest.param(
            [col("k"), col("ms"), col("n"), col("t").rowtime],
            "`t` TIMESTAMP(3) *ROWTIME*",
            0,
            id="behind the fields",
        ),
        pytest.param(
            [col("k"), col("n"), col("ms").rowtime],
            "`ms` TIMESTAMP(3) *ROWTIME*",
            0,
            id="instead of a field",
        ),
        pytest.param(
            [col("a"), col("b").rowtime], "`b` TIMESTAMP(3) *ROWTIME*", 0, id="by position"
        ),
        pytest.param(
            [builder().column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").build()],
            "`rowtime` TIMESTAMP_LTZ(3)",
            0,
            id="without a watermark",
        ),
    ],
)
def test_the_event_time_is_a_column(streams, tables, given, column, hour):
    table = tables.from_data_stream(bounded(streams), *given)
    assert columns_of(table)[-1] == column
    found = [row[-1] for row in rows_of(table)]
    assert found == [clock(ms / 1000, hour) for _, ms, _ in ROWS]


def test_the_event_time_as_text(streams, tables):
    schema = builder().column("n", "INT").column_by_metadata("rt", "STRING", "rowtime").build()
    table = tables.from_data_stream(bounded(streams), schema)
    assert rows_of(table)[2] == (3, "1970-01-01 09:00:02.500")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([builder().column_by_metadata("rt", "TIMESTAMP(3)").build()], "Invalid metadata key 'rt'"),
        (
            [builder().column_by_metadata("rt", "BIGINT", "rowtime").build()],
            r"Unsupported cast from 'TIMESTAMP_LTZ\(3\)' to 'BIGINT'",
        ),
        (
            [builder().column_by_metadata("n", "TIMESTAMP_LTZ(3)", "rowtime").build()],
            "Ambiguous column name: n",
        ),
        ([builder().watermark("k", SOURCE).build()], "must be a column of type TIMESTAMP"),
        ([col("k").rowtime, col("n")], "can only replace a field with a valid time type"),
        ([col("a").rowtime, col("b")], "can only replace a field with a valid time type"),
        ([col("n"), col("a").rowtime, col("b").rowtime], "can only be defined once"),
        ([col("n"), col("x").rowtime.alias("y")], "Alias 'y' must reference an existing field"),
    ],
)
def test_what_is_no_event_time(streams, tables, given, expected):
    with pytest.raises(TableException, match=expected):
        tables.from_data_stream(bounded(streams), *given)


@pytest.mark.parametrize(
    "given", [[col("a"), col("b").rowtime], [with_rowtime()]], ids=["field", "metadata"]
)
def test_elements_without_a_timestamp_fail(streams, tables, given):
    stream = streams.from_collection([(1,)], Types.ROW([Types.INT()]))
    with pytest.raises(Exception, match="Could not find timestamp in DataStream API record"):
        rows_of(tables.from_data_stream(stream, *given))


@pytest.mark.parametrize(
    ("given", "hour"),
    [
        ([with_rowtime()], 0),
        ([col("k"), col("n"), col("ms").rowtime], 0),
        # As in Flink, which takes the clock of the time zone for that of UTC.
        ([with_rowtime("TIMESTAMP(3)", "rt")], 9),
    ],
)
def test_the_event_time_goes_on_in_a_stream(streams, tables, given, hour):
    table = tables.from_data_stream(bounded(streams), *given)
    with tables.to_data_stream(table).process(Times()).execute_and_collect() as found:
        assert list(found) == [(k, ms + hour * 3_600_000) for k, ms, _ in ROWS]


def test_changes_have_an_event_time(streams, tables):
    changes = [Row("a", 1000, 1), Row("b", 2000, 2), Row("a", 2500, 3)]
    stream = streams.from_collection(changes, TYPE).assign_timestamps_and_watermarks(strategy())
    table = tables.from_changelog_stream(stream, with_rowtime())
    assert [row[-1].second for row in rows_of(table)] == [1, 2, 2]
    keyed = builder().column("k", "STRING NOT NULL").column("n", "INT").primary_key("k")
    keyed = keyed.column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)").watermark("rowtime", SOURCE)
    upserts = tables.from_changelog_stream(stream, keyed.build(), ChangelogMode.upsert())
    assert sorted(rows_of(upserts.select(col("k"), col("n"))))[-1] == ("b", 2)


def in_batches(streams):
    source = TestStream(TYPE)
    # Spark takes a row as late one batch after the watermark has passed it.
    late = ("b", 4001, 6), ("b", 4002, 8), ("late", 1500, 5)
    for k, ms, n in [*ROWS[:3], *late, ("c", 9001, 7)]:
        source.add_elements([Row(k, ms, n)])
    return streams.from_source(source, WatermarkStrategy.no_watermarks(), "test")


def first_of(table, count):
    with table.execute().collect() as rows:
        return [tuple(next(rows)) for _ in range(count)]


@pytest.mark.parametrize(
    ("watermark", "way", "given"),
    [
        ("strategy", "chained", "metadata"),
        ("generator", "keyed", "field"),
        *(
            pytest.param(*each, marks=pytest.mark.complete)
            for each in itertools.product(
                ["strategy", "generator"], ["chained", "keyed"], ["metadata", "field"]
            )
        ),
    ],
)
def test_windows_end_by_the_watermark_of_the_stream(streams, tables, watermark, way, given):
    made = WatermarkStrategy.for_generator(Latest) if watermark == "generator" else None
    stream = in_batches(streams).assign_timestamps_and_watermarks(strategy(made))
    if way == "keyed":
        stream = stream.key_by(lambda row: row[0]).map(lambda row: row, TYPE)
    else:
        # Those that are left out move the watermark, too.
        stream = stream.filter(lambda row: row[0] != "c")
    if given == "metadata":
        table = tables.from_data_stream(stream, with_rowtime())
    else:
        table = tables.from_data_stream(stream, col("k"), col("n"), col("rowtime").rowtime)
    tables.create_temporary_view("v", table)
    assert sorted(first_of(tables.sql_query(WINDOWS), 4)) == [
        ("a", 1),
        ("a", 3),
        ("b", 2),
        ("b", 14),
    ]


def test_windows_end_by_a_watermark_of_the_table(streams, tables):
    schema = builder().column_by_expression("rowtime", "TO_TIMESTAMP_LTZ(ms, 3)")
    schema = schema.watermark("rowtime", "rowtime - INTERVAL '0.001' SECOND").build()
    tables.create_temporary_view("v", in_batches(streams), schema)
    found = first_of(tables.sql_query(WINDOWS), 4)
    assert sorted(found) == [("a", 1), ("a", 3), ("b", 2), ("b", 14)]


def test_a_stream_has_one_watermark_behind_a_shuffle(streams, tables):
    stream = in_batches(streams).assign_timestamps_and_watermarks(strategy())
    stream = stream.key_by(lambda row: row[0]).map(lambda row: row, TYPE)
    schema = builder().column_by_expression("rowtime", "TO_TIMESTAMP_LTZ(ms, 3)")
    with pytest.raises(TableException, match=r"declare SOURCE_WATERMARK\(\) as the watermark"):
        tables.from_data_stream(stream, schema.watermark("rowtime", "rowtime").build())


def test_watermarks_of_the_source_itself(streams, tables, caplog):
    source = TestStream(TYPE).add_elements([Row("a", 0, 1)], [1000]).advance_watermark_to(2000)
    stream = streams.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    table = tables.from_data_stream(stream, col("k"), col("n"), col("t").rowtime)
    window = Tumble.over(lit(2).seconds).on(col("t")).alias("w")
    counted = table.window(window).group_by(col("k"), col("w")).select(col("k"), col("n").sum)
    assert first_of(counted, 1) == [("a", 1)]
    assert "has no watermark" not in caplog.text


def test_a_stream_without_watermarks_says_so(streams, tables, caplog):
    source = TestStream(TYPE)
    source.has_watermarks = False
    stream = streams.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    tables.from_data_stream(stream, with_rowtime())
    assert "The data stream has no watermark" in caplog.text


def test_a_stream_of_a_table_of_a_stream_has_the_watermark(streams, tables):
    class Watermarks(ProcessFunction):
        def process_element(self, value, ctx):
            yield value[0], ctx.timer_service().current_watermark()

    stream = in_batches(streams).assign_timestamps_and_watermarks(strategy())
    again = tables.to_data_stream(tables.from_data_stream(stream, with_rowtime()))
    with again.process(Watermarks()).execute_and_collect() as found:
        assert [next(found) for _ in range(7)][-1] == ("c", 9000)


def test_the_watermark_of_a_generator_ends_with_its_table(streams, tables, caplog):
    generated = strategy(WatermarkStrategy.for_generator(Latest))
    stream = in_batches(streams).assign_timestamps_and_watermarks(generated)
    tables.to_data_stream(tables.from_data_stream(stream, with_rowtime()))
    assert "The table has that of a generator" in caplog.text
