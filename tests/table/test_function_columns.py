"""The columns and rows that functions of programs give; names are PyFlink's."""

from __future__ import annotations

import pytest

from pyflow.common import Row, Types
from pyflow.datastream import StreamExecutionEnvironment
from pyflow.table import DataTypes, EnvironmentSettings, StreamTableEnvironment, TableEnvironment
from pyflow.table.expressions import col
from pyflow.table.udf import udaf, udf, udtf
from pyflow.util.exceptions import TableException

PAIR = DataTypes.ROW(
    [DataTypes.FIELD("q", DataTypes.BIGINT()), DataTypes.FIELD("p", DataTypes.BIGINT())]
)


@pytest.fixture
def tables(environment):
    environment()
    return StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment())


@pytest.fixture
def batch(environment):
    environment()
    return TableEnvironment.create(EnvironmentSettings.in_batch_mode())


def names(table):
    return table.get_resolved_schema().get_column_names()


def elements(tables):
    return tables.from_elements([(1, "x")], ["a", "b"])


def rows_of(table):
    with table.execute().collect() as rows:
        return [tuple(row) for row in rows]


@pytest.mark.parametrize(
    ("result_types", "expected"),
    [
        (PAIR, ["f0", "f1"]),
        ([DataTypes.BIGINT(), DataTypes.BIGINT()], ["f0", "f1"]),
        (["BIGINT", "BIGINT"], ["f0", "f1"]),
        ("ROW<q BIGINT, p BIGINT>", ["q", "p"]),
    ],
)
def test_columns_of_a_table_function(tables, result_types, expected):
    pairs = udtf(lambda value: [(value, value + 1)], result_types=result_types)
    joined = elements(tables).join_lateral(pairs(col("a")))
    assert names(joined) == ["a", "b", *expected]
    assert rows_of(joined.select(col(expected[1]))) == [(2,)]
    assert names(elements(tables).flat_map(pairs(col("a")))) == expected
    tables.create_temporary_function("pairs", pairs)
    tables.create_temporary_view("e", elements(tables))
    query = tables.sql_query("SELECT * FROM e, LATERAL TABLE(pairs(a))")
    assert names(query) == ["a", "b", *expected]


def test_the_column_of_a_table_function_of_a_type_as_a_string(tables):
    values = udtf(lambda value: [value], result_types="BIGINT")
    flat = elements(tables).flat_map(values(col("a")))
    assert names(flat) == ["EXPR$0"]
    assert rows_of(flat.select(col("EXPR$0"))) == [(1,)]


@pytest.mark.parametrize("func_type", ["general", "pandas"])
def test_columns_of_an_aggregate(batch, func_type):
    total = udaf(
        lambda values: Row(len(values), 1),
        result_type="ROW<total BIGINT, mean BIGINT>",
        func_type="pandas",
    )
    if func_type == "general":
        from pyflow.table.udf import AggregateFunction

        class Total(AggregateFunction):
            def create_accumulator(self):
                return [0]

            def accumulate(self, accumulator, value):
                accumulator[0] += 1

            def get_value(self, accumulator):
                return Row(accumulator[0], 1)

        total = udaf(
            Total(),
            result_type="ROW<total BIGINT, mean BIGINT>",
            accumulator_type="ARRAY<BIGINT>",
        )
    grouped = elements(batch).group_by(col("b")).aggregate(total(col("a"))).select(col("*"))
    assert names(grouped) == ["b", "TMP_0$total", "TMP_0$mean"]
    assert rows_of(grouped.select(col("TMP_0$total"))) == [(1,)]


def test_an_aggregate_of_python_is_not_called_without_rows(batch):
    first = udaf(lambda values: values.iloc[0], result_type="BIGINT", func_type="pandas")
    nothing = elements(batch).where(col("a") > 9)
    assert rows_of(nothing.select(first(col("a")))) == []
    assert rows_of(nothing.aggregate(first(col("a")).alias("z")).select(col("z"))) == []
    assert rows_of(nothing.select(col("a").count)) == [(0,)]


def test_a_time_that_is_none_is_named(tables):
    wrong = udf(lambda value: "x", result_type="TIME(0)")
    with pytest.raises(Exception, match=r"the result of .* is 'x'"):
        rows_of(elements(tables).select(wrong(col("a"))))


@pytest.mark.parametrize("convert", ["to_append_stream", "to_retract_stream"])
def test_types_of_elements_are_those_of_columns(tables, convert):
    converted = getattr(tables, convert)
    with pytest.raises(TableException, match="Incompatible types for sink column 'f1'"):
        converted(elements(tables), Types.ROW([Types.LONG(), Types.INT()]))
    with pytest.raises(TableException, match="Different number of columns"):
        converted(elements(tables), Types.ROW([Types.LONG()]))
    stream = converted(elements(tables), Types.TUPLE([Types.DOUBLE(), Types.STRING()]))
    with stream.execute_and_collect() as found:
        (element,) = found
    values = element if convert == "to_append_stream" else element[1]
    assert values == (1.0, "x")
    assert type(values[0]) is float
