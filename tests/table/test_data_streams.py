"""Data streams of collections as tables. What is expected is what PyFlink 2.3.0 gave."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from pyflow.common import Configuration, Instant, Row, Types
from pyflow.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflow.table import DataTypes, EnvironmentSettings, Schema, StreamTableEnvironment
from pyflow.table.expressions import col
from pyflow.util.exceptions import TableException

UNNAMED = Types.ROW([Types.INT(), Types.STRING(), Types.FLOAT()])
NAMED = Types.ROW_NAMED(["x", "y", "z"], [Types.INT(), Types.STRING(), Types.FLOAT()])


@pytest.fixture
def tables(environment):
    environment()
    env = StreamExecutionEnvironment.get_execution_environment()
    return StreamTableEnvironment.create(env.set_parallelism(1))


def stream(type_info=NAMED, elements=((1, "a", 2.5), (2, "b", 3.5))):
    env = StreamExecutionEnvironment.get_execution_environment()
    return env.from_collection(list(elements), type_info=type_info)


def rows(table):
    with table.execute().collect() as found:
        return [tuple(row) for row in found]


def columns(table):
    schema = table.get_resolved_schema()
    types = [each.sql for each in schema.get_column_data_types()]
    return list(zip(schema.get_column_names(), types))


def builder():
    return Schema.new_builder()


@pytest.mark.parametrize(
    ("given", "names", "first"),
    [
        pytest.param([], ["x", "y", "z"], (1, "a", 2.5), id="all"),
        pytest.param([col("z"), col("x")], ["z", "x"], (2.5, 1), id="by_name"),
        pytest.param([col("z").alias("q"), col("x")], ["q", "x"], (2.5, 1), id="by_name_renamed"),
        pytest.param([col("a"), col("b")], ["a", "b"], (1, "a"), id="by_position"),
        pytest.param(
            [builder().column("y", DataTypes.STRING()).build()], ["y"], ("a",), id="schema"
        ),
        pytest.param(
            [builder().column_by_expression("c", "x + 1").build()],
            ["x", "y", "z", "c"],
            (1, "a", 2.5, 2),
            id="computed_after_all",
        ),
        pytest.param(
            [builder().column_by_expression("c", "x + 1").column("y", DataTypes.STRING()).build()],
            ["c", "y"],
            (2, "a"),
            id="computed_from_a_field_that_is_left_out",
        ),
        pytest.param(
            [builder().column("x", DataTypes.BIGINT()).build()], ["x"], (1,), id="converted"
        ),
    ],
)
def test_columns_of_a_stream(tables, given, names, first):
    table = tables.from_data_stream(stream(), *given)
    assert [name for name, _ in columns(table)] == names
    assert rows(table)[0] == first


def test_columns_without_names(tables):
    assert columns(tables.from_data_stream(stream(UNNAMED))) == [
        ("f0", "INT"),
        ("f1", "STRING"),
        ("f2", "FLOAT"),
    ]
    words = stream(Types.STRING(), ["a", "b"])
    assert rows(tables.from_data_stream(words)) == [("a",), ("b",)]
    assert columns(tables.from_data_stream(words, col("w"))) == [("w", "STRING")]


def test_a_processing_time(tables):
    table = tables.from_data_stream(stream(), col("a"), col("b"), col("p").proctime)
    assert columns(table)[:2] == [("a", "INT"), ("b", "STRING")]
    before = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
    (found, *_) = [row[0] for row in rows(table.select(col("p").cast(DataTypes.TIMESTAMP(3))))]
    assert found > before.replace(tzinfo=None)


def test_values_of_every_type(tables):
    types = {
        "boolean": (Types.BOOLEAN(), True),
        "byte": (Types.BYTE(), 1),
        "short": (Types.SHORT(), 2),
        "int": (Types.INT(), 3),
        "long": (Types.LONG(), 4),
        "float": (Types.FLOAT(), 5.5),
        "double": (Types.DOUBLE(), 6.5),
        "string": (Types.STRING(), "s"),
        "decimal": (Types.BIG_DEC(), Decimal("1.25")),
        "date": (Types.SQL_DATE(), datetime.date(2020, 1, 2)),
        "time": (Types.SQL_TIME(), datetime.time(3, 4, 5)),
        "timestamp": (Types.SQL_TIMESTAMP(), datetime.datetime(2020, 1, 2, 3, 4, 5, 6000)),
        "map": (Types.MAP(Types.STRING(), Types.INT()), {"a": 1}),
        "array": (Types.BASIC_ARRAY(Types.INT()), [1, 2]),
        "list": (Types.LIST(Types.STRING()), ["x"]),
        "row": (Types.ROW_NAMED(["q"], [Types.INT()]), Row(2)),
    }
    row_type = Types.ROW_NAMED(list(types), [info for info, _ in types.values()])
    values = tuple(value for _, value in types.values())
    table = tables.from_data_stream(stream(row_type, [values, (None,) * len(values)]))
    assert rows(table) == [values, (None,) * len(values)]


def test_points_in_time(tables):
    moments = stream(Types.ROW([Types.INSTANT()]), [(Instant.of_epoch_milli(-1500),)])
    table = tables.from_data_stream(
        moments, builder().column_by_expression("t", "CAST(f0 AS TIMESTAMP(3))").build()
    )
    assert rows(table.select(col("t"))) == [(datetime.datetime(1969, 12, 31, 23, 59, 58, 500000),)]


def test_views_of_streams(tables):
    tables.create_temporary_view("named", stream())
    tables.create_temporary_view("renamed", stream(), col("a"), col("b"), col("c"))
    tables.create_temporary_view("part", stream(), builder().column("y", "STRING").build())
    assert rows(tables.sql_query("SELECT y, x FROM named")) == [("a", 1), ("b", 2)]
    assert rows(tables.sql_query("SELECT a FROM renamed")) == [(1,), (2,)]
    assert rows(tables.sql_query("SELECT * FROM part")) == [("a",), ("b",)]


@pytest.mark.parametrize(
    ("make", "given", "expected"),
    [
        (stream, [col("x"), col("b")], "b is not a field of the data stream. Expected: x, y, z"),
        (stream, [col(name) for name in "abcd"], "has 3 fields, but 4 were named"),
        (stream, [col("p").proctime, col("a")], "must be the last field"),
        (stream, [col("a") + 1], "named by col"),
        (stream, [builder().column("no", "INT").build()], "Unable to find a field named 'no'"),
        (stream, [builder().column("y", "INT").build()], "declared as INT, but .* has STRING"),
        (lambda: stream(None), [], "The data stream has no type"),
    ],
)
def test_what_no_table_has(tables, make, given, expected):
    with pytest.raises(TableException, match=expected):
        tables.from_data_stream(make(), *given)


def test_what_is_no_stream(tables):
    with pytest.raises(TypeError, match="expected a DataStream, got int"):
        tables.from_data_stream(1)
    with pytest.raises(TypeError, match="expected a Table or a DataStream, got int"):
        tables.create_temporary_view("v", 1)
    with pytest.raises(ValueError, match="by one schema"):
        tables.from_data_stream(stream(), builder().build(), col("x"))
    with pytest.raises(TypeError, match="expected ROW of"):
        stream(NAMED, ["text"])


def test_settings_of_both_environments(environment):
    environment()
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict({"parallelism.default": "3"})
    )
    assert env.get_parallelism() == 3
    assert env.set_runtime_mode(RuntimeExecutionMode.BATCH) is env
    env.set_max_parallelism(64)
    env.configure(Configuration.from_dict({"table.local-time-zone": "Asia/Tokyo"}))
    assert env.get_max_parallelism() == 64
    of_env = StreamTableEnvironment.create(env)
    assert of_env.get_config().get("execution.runtime-mode", "") == "BATCH"
    assert of_env.get_config().get("table.local-time-zone", "") == "Asia/Tokyo"
    settings = EnvironmentSettings.new_instance().in_streaming_mode().build()
    both = StreamTableEnvironment.create(env, settings)
    assert both.get_config().get("execution.runtime-mode", "") == "STREAMING"
    assert both.get_config().get("parallelism.default", "") == "3"
    assert stream().get_type() == NAMED
    with pytest.raises(ValueError, match="No argument found"):
        StreamTableEnvironment.create()
