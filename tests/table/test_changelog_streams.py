"""Changes of tables as data streams with a schema and a changelog mode; results are PyFlink's."""

from __future__ import annotations

import datetime

import pytest

from pyflow.common import Row, RowKind, Types, WatermarkStrategy
from pyflow.common.watermark_strategy import TimestampAssigner
from pyflow.datastream import ProcessFunction, StreamExecutionEnvironment
from pyflow.datastream.testing import TestStream
from pyflow.table import ChangelogMode, Schema, StreamTableEnvironment
from pyflow.util.exceptions import TableException

COUNTS = "SELECT k, COUNT(*) AS c FROM v GROUP BY k"
COUNTS_OF_COUNTS = f"SELECT c, COUNT(*) AS m FROM ({COUNTS}) GROUP BY c"
NO_TIME = -(1 << 63)
INSERT, BEFORE, AFTER, DELETE = map(RowKind, range(4))
CHANGES = [
    (INSERT, ("a", 1)),
    (INSERT, ("b", 1)),
    (BEFORE, ("a", 1)),
    (AFTER, ("a", 2)),
    (BEFORE, ("b", 1)),
    (AFTER, ("b", 2)),
    (INSERT, ("c", 1)),
]
UPSERTS = [each for each in CHANGES if each[0] != BEFORE]


class Seen(ProcessFunction):
    def process_element(self, value, ctx):
        yield value.get_row_kind().value, value.as_dict(), ctx.timestamp()


@pytest.fixture
def streams(environment):
    environment()
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)


@pytest.fixture
def tables(streams):
    tables = StreamTableEnvironment.create(streams)
    tables.get_config().set("table.local-time-zone", "Asia/Tokyo")
    rows = [("a", 1), ("b", 2), ("a", 3), ("b", 9), ("c", 1)]
    tables.create_temporary_view("v", tables.from_elements(rows, ["k", "n"]))
    return tables


def builder():
    return Schema.new_builder()


def seen(stream):
    with stream.process(Seen()).execute_and_collect() as found:
        return [(RowKind(kind), row, time) for kind, row, time in found]


@pytest.mark.parametrize(
    ("schema", "mode", "names", "expected"),
    [
        pytest.param(
            builder().column("key", "STRING").column("num", "BIGINT"),
            None,
            ["key", "num"],
            CHANGES,
            id="names",
        ),
        pytest.param(
            builder()
            .column("k", "STRING")
            .column_by_expression("d", "c + 1")
            .column("c", "BIGINT"),
            None,
            ["k", "c"],
            CHANGES,
            id="without computed columns",
        ),
        pytest.param(builder(), ChangelogMode.all(), ["k", "c"], CHANGES, id="all"),
        pytest.param(builder(), ChangelogMode.upsert(), ["k", "c"], UPSERTS, id="upserts"),
        pytest.param(
            builder().column("k", "STRING NOT NULL").column("c", "BIGINT").primary_key("k"),
            ChangelogMode.upsert(),
            ["k", "c"],
            UPSERTS,
            id="upserts by key",
        ),
        pytest.param(None, ChangelogMode.upsert(), ["k", "c"], CHANGES, id="no schema"),
    ],
)
def test_changes_with_a_schema(tables, schema, mode, names, expected):
    made = None if schema is None else schema.build()
    stream = tables.to_changelog_stream(tables.sql_query(COUNTS), made, mode)
    assert seen(stream) == [(kind, dict(zip(names, row)), NO_TIME) for kind, row in expected]


def test_values_are_converted(tables):
    schema = builder().column("key", "STRING").column("num", "DECIMAL(10, 2)").build()
    stream = tables.to_changelog_stream(tables.sql_query(COUNTS), schema)
    assert str(seen(stream)[-1][1]["num"]) == "1.00"


def test_deletions_are_upserts(tables):
    schema = builder().primary_key("c").build()
    counted = tables.sql_query(COUNTS_OF_COUNTS)
    found = seen(tables.to_changelog_stream(counted, schema, ChangelogMode.upsert()))
    assert [(kind, tuple(row.values())) for kind, row, _ in found] == [
        (INSERT, (1, 1)),
        (AFTER, (1, 2)),
        (AFTER, (1, 1)),
        (INSERT, (2, 1)),
        (DELETE, (1, 1)),
        (AFTER, (2, 2)),
        (INSERT, (1, 1)),
    ]


@pytest.mark.parametrize(
    ("query", "schema", "names"),
    [
        (
            "SELECT k, TO_TIMESTAMP_LTZ(n, 0), n FROM v",
            builder()
            .column("k", "STRING")
            .column_by_metadata("t", "TIMESTAMP_LTZ(3)", "rowtime")
            .column("n", "BIGINT"),
            ["k", "n"],
        ),
        (
            "SELECT k, CAST(TO_TIMESTAMP_LTZ(n, 0) AS TIMESTAMP(3)) AS x FROM v",
            builder().column("k", "STRING").column_by_metadata("t", "TIMESTAMP(3)", "rowtime"),
            ["k"],
        ),
        (
            "SELECT k, TO_TIMESTAMP_LTZ(n, 0) AS rowtime FROM v",
            builder().column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)"),
            ["k"],
        ),
    ],
)
def test_a_column_becomes_the_event_time(tables, query, schema, names):
    found = seen(tables.to_changelog_stream(tables.sql_query(query), schema.build()))
    assert [list(row) for _, row, _ in found] == [names] * 5
    assert [time for _, _, time in found] == [1000, 2000, 3000, 9000, 1000]


def test_a_virtual_column_is_not_written(tables):
    schema = builder().column("k", "STRING")
    schema = schema.column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)", None, is_virtual=True).build()
    found = seen(tables.to_changelog_stream(tables.sql_query("SELECT k FROM v"), schema))
    assert found[0] == (INSERT, {"k": "a"}, NO_TIME)


@pytest.mark.parametrize(
    ("query", "schema", "mode", "expected"),
    [
        (
            COUNTS,
            builder().column("k", "STRING").column("c", "INT"),
            None,
            "Incompatible types for sink column 'c' at position 2",
        ),
        (COUNTS, builder().column("k", "STRING"), None, "Different number of columns"),
        (
            COUNTS,
            builder().column("k", "STRING").column_by_metadata("x", "BIGINT"),
            None,
            "Invalid metadata key 'x' in column 'x'",
        ),
        (
            COUNTS,
            builder(),
            ChangelogMode.insert_only(),
            "doesn't support consuming update and delete changes",
        ),
        (
            f"SELECT c, k FROM ({COUNTS})",
            builder().primary_key("c"),
            ChangelogMode.upsert(),
            r"Primary key: \[c\], upsert key: \[k\]",
        ),
        (
            "SELECT k, n FROM v",
            builder().primary_key("k"),
            ChangelogMode.upsert(),
            r"Primary key: \[k\], upsert key: none",
        ),
    ],
)
def test_what_the_stream_does_not_have(tables, query, schema, mode, expected):
    with pytest.raises(TableException, match=expected):
        tables.to_changelog_stream(tables.sql_query(query), schema.build(), mode)


@pytest.mark.parametrize(
    ("query", "schema", "expected"),
    [
        (
            "SELECT k, NULLIF(n, 2) FROM v",
            builder().column("k", "STRING").column("n", "BIGINT NOT NULL"),
            "Column 'n' is NOT NULL",
        ),
        (
            "SELECT k, CAST(NULL AS TIMESTAMP_LTZ(3)) AS r FROM v",
            builder().column("k", "STRING").column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)"),
            "has no event time: column 'rowtime' is null",
        ),
    ],
)
def test_what_a_row_does_not_have(tables, query, schema, expected):
    stream = tables.to_changelog_stream(tables.sql_query(query), schema.build())
    with pytest.raises(Exception, match=expected):
        seen(stream)


def test_the_time_attribute_goes_on_beside_converted_columns(streams, tables):
    class Milliseconds(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return value[1]

    strategy = WatermarkStrategy.for_monotonous_timestamps()
    strategy = strategy.with_timestamp_assigner(Milliseconds())
    type_info = Types.ROW_NAMED(["k", "ms", "n"], [Types.STRING(), Types.LONG(), Types.INT()])
    source = TestStream(type_info)
    source = source.add_elements([Row("a", 1000, 1)]).add_elements([Row("b", 2000, 2)])
    stream = streams.from_source(source, strategy, "test")
    rowtime = builder().column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
    rowtime = rowtime.watermark("rowtime", "SOURCE_WATERMARK()").build()
    tables.create_temporary_view("u", stream, rowtime)
    schema = builder().column("key", "STRING").column("t", "TIMESTAMP(3)").build()
    changes = tables.to_changelog_stream(tables.sql_query("SELECT k, rowtime FROM u"), schema)
    with changes.process(Seen()).execute_and_collect() as found:
        assert [next(found)[1:] for _ in range(2)] == [
            ({"key": "a", "t": datetime.datetime(1970, 1, 1, 9, 0, 1)}, 1000),
            ({"key": "b", "t": datetime.datetime(1970, 1, 1, 9, 0, 2)}, 2000),
        ]


@pytest.mark.parametrize("is_bounded", [True, False])
@pytest.mark.parametrize(
    ("aggregates", "updated"),
    [("SUM(score)", [(BEFORE, 12), (AFTER, 100)]), ("AVG(score)", [(DELETE, 12), (INSERT, 100)])],
)
def test_an_update_of_the_only_row_of_a_group_is_one(
    streams, tables, is_bounded, aggregates, updated
):
    """As Flink, which removes such an aggregate, and no others."""
    type_info = Types.ROW_NAMED(["name", "score"], [Types.STRING(), Types.INT()])
    rows = [
        Row.of_kind(INSERT, "Alice", 12),
        Row.of_kind(INSERT, "Bob", 5),
        Row.of_kind(AFTER, "Alice", 100),
    ]
    if is_bounded:
        stream = streams.from_collection(rows, type_info)
    else:
        source = TestStream(type_info).add_elements(rows)
        stream = streams.from_source(source, WatermarkStrategy.no_watermarks(), "test")
    schema = builder().primary_key("name").build()
    table = tables.from_changelog_stream(stream, schema, ChangelogMode.upsert())
    tables.create_temporary_view("u", table)
    query = tables.sql_query(f"SELECT name, {aggregates} AS s FROM u GROUP BY name")
    with query.execute().collect() as found:
        seen = [next(found) for _ in range(4)]
    of_alice = [(each.get_row_kind(), each[1]) for each in seen if each[0] == "Alice"]
    assert of_alice == [(INSERT, 12), *updated]
