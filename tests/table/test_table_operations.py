"""Operations that recorded programs do not show: functions of rows, and changes of changes."""

from __future__ import annotations

import datetime
import random

import pytest

from pyflow.common import Row
from pyflow.table import AggregateFunction, DataTypes, TableAggregateFunction
from pyflow.table.expressions import UNBOUNDED_RANGE, col, lit, null_of, row_interval
from pyflow.table.udf import udaf, udf, udtaf, udtf
from pyflow.table.window import Over, Tumble
from pyflow.util.exceptions import TableException

PAIRS = [("a", 3), ("b", 1), ("a", 5), ("b", None), ("a", 4), (None, 2)]


def pairs(t_env):
    return t_env.from_elements(
        PAIRS,
        DataTypes.ROW(
            [
                DataTypes.FIELD("key", DataTypes.STRING()),
                DataTypes.FIELD("value", DataTypes.BIGINT()),
            ]
        ),
    )


def rows(table):
    with table.execute().collect() as found:
        return [tuple(row) for row in found]


def left(table):
    return sorted(map(tuple, table.to_spark().collect()), key=str)


class CountAndSum(AggregateFunction):
    def create_accumulator(self):
        return [0, 0]

    def accumulate(self, accumulator, row):
        accumulator[0] += 1
        accumulator[1] += row.value or 0

    def get_value(self, accumulator):
        return Row(*accumulator)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.ROW(
            [DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("s", DataTypes.BIGINT())]
        )


class Sum(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, value):
        accumulator[0] += value or 0

    def get_value(self, accumulator):
        return accumulator[0]

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.BIGINT()


class Top2(TableAggregateFunction):
    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, value):
        if value is not None:
            accumulator.append(value)
            accumulator.sort(reverse=True)
            del accumulator[2:]

    def emit_value(self, accumulator):
        for value in accumulator:
            yield Row(value)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("top", DataTypes.BIGINT())])


def test_an_aggregate_of_whole_rows_becomes_columns(t_env):
    aggregated = pairs(t_env).group_by(col("key")).aggregate(udaf(CountAndSum()).alias("c", "d"))
    found = left(aggregated.select(col("key"), col("c"), col("d")))
    assert found == sorted([("a", 3, 12), ("b", 2, 1), (None, 1, 2)], key=str)


def test_an_aggregate_of_all_rows(t_env):
    aggregated = pairs(t_env).aggregate(udaf(CountAndSum()))
    assert left(aggregated.select(col("TMP_0$n"), col("TMP_0$s"))) == [(6, 15)]
    named = pairs(t_env).aggregate(udaf(CountAndSum()).alias("n", "s"))
    assert left(named.select(col("n"), col("s"))) == [(6, 15)]


def test_python_aggregates_stand_beside_built_in_ones(t_env):
    grouped = pairs(t_env).group_by(col("key"))
    table = grouped.select(col("key"), udaf(Sum())(col("value")), col("value").count)
    assert left(table) == sorted([("a", 12, 3), ("b", 1, 1), (None, 2, 1)], key=str)


def test_pandas_aggregates(t_env):
    pytest.importorskip("pandas")
    mean = udaf(lambda v: v.mean(), result_type=DataTypes.DOUBLE(), func_type="pandas")
    table = pairs(t_env).group_by(col("key")).select(col("key"), mean(col("value")).alias("m"))
    assert left(table) == sorted([("a", 4.0), ("b", 1.0), (None, 2.0)], key=str)


def test_literals_are_no_series(t_env):
    """A pandas function sees their values, as one over rows does."""
    pytest.importorskip("pandas")
    seen = udf(
        lambda day, v, *others: v.map(lambda _: f"{day!r} {others!r}"),
        result_type=DataTypes.STRING(),
        func_type="pandas",
    )
    day = lit(datetime.date(1582, 10, 10))
    table = pairs(t_env).select(
        seen(
            day,
            col("value"),
            -lit(1),
            "x",
            null_of(DataTypes.INT()),
            lit(1).cast(DataTypes.DOUBLE()),
        )
    )
    assert set(rows(table)) == {("datetime.date(1582, 10, 10) (-1, 'x', None, 1.0)",)}
    with pytest.raises(TableException, match="needs an argument that is no literal"):
        pairs(t_env).select(seen(1, 2))


class NamedSum(Top2):
    def emit_value(self, accumulator):
        yield Row(text=f"{len(accumulator)}", n=sum(accumulator))


def test_rows_that_functions_make_are_taken_by_position(t_env):
    """Whatever names their fields have."""
    pair = [DataTypes.STRING(), DataTypes.BIGINT()]
    named = udtf(lambda row: Row(text=row.key, n=row.value), result_types=pair)
    row = DataTypes.ROW([DataTypes.FIELD("n", pair[0]), DataTypes.FIELD("text", pair[1])])
    total = udtaf(NamedSum(), result_type=row, accumulator_type=DataTypes.ARRAY(pair[1]))

    assert rows(pairs(t_env).flat_map(named))[0] == ("a", 3)
    summed = pairs(t_env).flat_aggregate(total(col("value")).alias("a", "b"))
    assert left(summed.select(col("a"), col("b"))) == [("2", 9)]


def test_a_table_aggregate_gives_many_rows(t_env):
    grouped = pairs(t_env).group_by(col("key")).flat_aggregate(udtaf(Top2())(col("value")))
    found = left(grouped.select(col("key"), col("top")))
    assert found == sorted([("a", 5), ("a", 4), ("b", 1), (None, 2)], key=str)
    named = pairs(t_env).flat_aggregate(udtaf(Top2())(col("value")).alias("x"))
    assert left(named.select(col("x"))) == [(4,), (5,)]


def test_aggregates_are_not_nested(batch):
    aggregated = pairs(batch).aggregate(udaf(CountAndSum()))
    with pytest.raises(TableException, match="right after the aggregate"):
        aggregated.select(col("n").sum)


def test_functions_get_the_whole_row(t_env):
    result = DataTypes.ROW([DataTypes.FIELD("k", DataTypes.STRING())])
    table = pairs(t_env).map(udf(lambda row: Row(f"{row.key}{row[1]}"), result_type=result))
    assert rows(table)[0] == ("a3",)
    repeated = udtf(lambda row: [row.key] * (row.value or 0), result_types=[DataTypes.STRING()])
    assert len(rows(pairs(t_env).flat_map(repeated))) == 15
    joined = pairs(t_env).join_lateral(repeated.alias("again"))
    assert joined.get_resolved_schema().get_column_names() == ["key", "value", "again"]
    assert len(rows(joined)) == 15
    outer = pairs(t_env).left_outer_join_lateral(repeated.alias("again"))
    assert ("b", None, None) in rows(outer)


def test_lateral_joins_take_a_condition(t_env):
    letters = udtf(lambda text: list(text or ""), result_types=[DataTypes.STRING()])
    table = pairs(t_env).join_lateral(letters(col("key")).alias("letter"), col("letter") == "a")
    assert {row[2] for row in rows(table)} == {"a"}
    with pytest.raises(TableException, match="can only be empty or literal true"):
        pairs(t_env).left_outer_join_lateral(
            letters(col("key")).alias("letter"), col("letter") == "a"
        )
    with pytest.raises(AttributeError, match="alias"):
        pairs(t_env).join_lateral(letters)
    with pytest.raises(TableException, match="ambiguous names"):
        pairs(t_env).join_lateral(letters(col("key")).alias("key"))
    with pytest.raises(TableException, match="same degree"):
        pairs(t_env).join_lateral(letters(col("key")).alias("x", "y"))


def test_functions_of_another_kind_are_refused(batch):
    scalar = udf(lambda value: value, result_type=DataTypes.BIGINT())
    with pytest.raises(TableException, match="a table function"):
        pairs(batch).flat_map(scalar(col("value")))
    with pytest.raises(TableException, match="scalar"):
        pairs(batch).map(udtf(lambda v: [v], result_types=["BIGINT"])(col("value")))
    with pytest.raises(TableException, match="scalar"):
        pairs(batch).map(col("value"))
    with pytest.raises(TableException, match="flatAggregate only accepts"):
        pairs(batch).flat_aggregate(col("value")).select(col("value"))
    with pytest.raises(TypeError, match="udf"):
        pairs(batch).map(len)
    with pytest.raises(TableException, match=r"col\(\)"):
        pairs(batch).select("key")


def test_tables_of_two_environments_are_not_joined(environment, batch):
    other = environment("batch")
    with pytest.raises(TableException, match="same TableEnvironment"):
        pairs(batch).join(pairs(other))
    with pytest.raises(TableException, match="same TableEnvironment"):
        pairs(batch).union_all(pairs(other))


@pytest.mark.parametrize("part", ["DATE", "TIME(0)"])
def test_timestamps_and_parts_of_them_are_not_united(batch, part):
    stamps = batch.sql_query("SELECT TIMESTAMP '2020-02-09 01:02:03' AS a")
    parts = batch.sql_query(f"SELECT CAST(TIMESTAMP '2020-02-09 01:02:03' AS {part}) AS a")
    for one, other in ((stamps, parts), (parts, stamps)):
        for operation in ("union_all", "union", "minus", "intersect_all"):
            with pytest.raises(TableException, match="Incompatible types for"):
                getattr(one, operation)(other)


def test_columns_are_attributes(batch):
    table = pairs(batch)
    assert rows(table.where(table.value > 4).select(table.key)) == [("a",)]
    with pytest.raises(AttributeError, match=r"no column named 'no', available columns: \[key"):
        _ = table.no


def test_windows_need_their_name(batch):
    window = Tumble.over(row_interval(2)).on(col("value")).alias("w")
    with pytest.raises(TableException, match="exactly one window alias"):
        pairs(batch).window(window).group_by(col("key"))
    with pytest.raises(TableException, match="only be used on windowed tables"):
        pairs(batch).group_by(col("key")).select(col("w").start)


def test_one_over_window(batch):
    over = Over.order_by(col("value")).preceding(row_interval(1)).alias("w")
    with pytest.raises(TableException, match="single over window"):
        pairs(batch).over_window(over, over).select(col("key"))


@pytest.mark.complete
def test_changes_of_changes_leave_what_a_batch_gives(environment):
    """Chains of operations over random rows: applied, the changes are the result of a batch."""
    chance = random.Random(7)
    data = [(chance.choice("abcd"), chance.choice([None, *range(6)]), n) for n in range(60)]

    def chain(t_env):
        table = t_env.from_elements(
            data,
            DataTypes.ROW(
                [
                    DataTypes.FIELD("key", DataTypes.STRING()),
                    DataTypes.FIELD("value", DataTypes.BIGINT()),
                    DataTypes.FIELD("n", DataTypes.BIGINT()),
                ]
            ),
        )
        counted = table.group_by(col("key"), col("value")).select(
            col("key"), col("value"), col("n").max.alias("most"), col("n").count.alias("c")
        )
        yield counted
        yield counted.filter(col("c") > 2).select(col("key"), col("most"))
        again = counted.group_by(col("c")).select(col("c").alias("d"), col("most").sum.alias("s"))
        yield again
        yield counted.join(again, col("c") == col("d"))
        yield counted.left_outer_join(again.filter(col("d") > 2), col("c") == col("d"))
        yield counted.select(col("key")).distinct()
        yield counted.union_all(counted)
        yield counted.order_by(col("most").desc).fetch(3)
        yield (
            counted.drop_columns(col("key"))
            .group_by(col("value"))
            .select(col("value"), col("c").sum, lit(1).count.distinct)
        )

    batches = list(map(left, chain(environment("batch"))))
    streams = list(map(left, chain(environment("streaming"))))
    assert streams == batches


def test_changes_end_in_the_values_of_the_batch(environment):
    """Applied one after the other by their kinds, the printed changes leave the batch's rows."""

    def counted(t_env):
        return (
            pairs(t_env)
            .group_by(col("key"))
            .select(col("key"), col("value").sum, col("value").avg, col("value").count.distinct)
        )

    table: list = []
    with counted(environment("streaming")).execute().collect() as changes:
        for row in changes:
            if str(row.get_row_kind()) in ("-U", "-D"):
                table.remove(tuple(row))
            else:
                table.append(tuple(row))
    assert sorted(table, key=str) == left(counted(environment("batch")))


NESTED = DataTypes.ROW(
    [
        DataTypes.FIELD("a", DataTypes.INT()),
        DataTypes.FIELD(
            "b",
            DataTypes.ROW(
                [DataTypes.FIELD("c", DataTypes.INT()), DataTypes.FIELD("d", DataTypes.STRING())]
            ),
        ),
    ]
)


def test_pandas_functions_of_whole_rows_take_flat_frames(batch):
    table = batch.from_elements([(1, (2, "x")), (3, None)], NESTED)
    shown = udf(
        lambda frame: frame.assign(s=",".join(frame.columns) + ":" + frame["d"].astype(str))[["s"]],
        result_type=DataTypes.ROW([DataTypes.FIELD("s", DataTypes.STRING())]),
        func_type="pandas",
    )
    names = udaf(
        lambda frame: ",".join(frame.columns), result_type=DataTypes.STRING(), func_type="pandas"
    )

    mapped = rows(table.map(shown))
    grouped = table.group_by(col("a")).aggregate(names.alias("s")).select(col("a"), col("s"))

    assert sorted(mapped) == [("a,c,d:None",), ("a,c,d:x",)]
    assert sorted(rows(grouped)) == [(1, "a,c,d"), (3, "a,c,d")]


def test_results_with_the_name_of_a_key_have_all_another_prefix(batch):
    counted = udaf(
        lambda frame: (len(frame), 1),
        result_type=DataTypes.ROW(
            [DataTypes.FIELD("key", DataTypes.BIGINT()), DataTypes.FIELD("n", DataTypes.BIGINT())]
        ),
        func_type="pandas",
    )
    grouped = pairs(batch).group_by(col("key")).aggregate(counted)

    result = grouped.select(col("*"))

    # As PyFlink names them.
    assert result.get_schema().get_field_names() == ["key", "TMP_0$key", "TMP_0$n"]
    assert sorted(rows(result), key=str) == [("a", 3, 1), ("b", 2, 1), (None, 1, 1)]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda t, u: t.where(col("key").in_(u)), ["a", "a", "a"]),
        (lambda t, u: t.where(~col("key").in_(u)), ["b", "b", None]),
        (lambda t, u: t.filter((col("value") > 3) & col("key").in_(u)), ["a", "a"]),
        (lambda t, u: t.where(col("key").in_(u)).where(col("value") == 3), ["a"]),
    ],
)
def test_values_are_looked_for_in_a_table(environment, mode, make, expected):
    t_env = environment(mode)
    other = t_env.from_elements([("a",), ("c",)], ["other"])
    found = make(pairs(t_env), other)
    assert sorted((key for key, _ in left(found)), key=str) == sorted(expected, key=str)
    assert t_env.list_temporary_views() == []


def test_a_table_is_no_value_elsewhere(batch):
    other = batch.from_elements([("a",)], ["other"])
    with pytest.raises(TableException, match="cannot be used as a value"):
        pairs(batch).where(col("key").in_(other) | (col("value") == 3))


SECONDS = """
CREATE TABLE seconds (
  n BIGINT, ts AS TO_TIMESTAMP(FROM_UNIXTIME(n)), pt AS PROCTIME(), WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'datagen', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1',
  'fields.n.end' = '7'
)
"""


@pytest.mark.parametrize("vectorized", [False, True])
def test_windows_have_properties_beside_an_aggregate_function(environment, mode, vectorized):
    t_env = environment(mode)
    t_env.execute_sql(SECONDS)
    window = Tumble.over(lit(5).seconds).on(col("ts")).alias("w")
    if vectorized:
        total = udaf(lambda n: n.sum(), result_type="BIGINT", func_type="pandas")
    else:
        total = udaf(Total(), result_type="BIGINT", accumulator_type="ARRAY<BIGINT>")
    grouped = t_env.from_path("seconds").window(window).group_by(col("w"))
    found = grouped.aggregate(total(col("n")).alias("s")).select(
        col("s"), col("w").start, col("w").end.alias("until")
    )
    assert found.get_schema().get_field_names() == ["s", "EXPR$0", "until"]
    assert [(row[0], row[1].second, row[2].second) for row in rows(found)] == [
        (10, 0, 5),
        (18, 5, 10),
    ]


class Total(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, n):
        accumulator[0] += n

    def get_value(self, accumulator):
        return accumulator[0]


def test_rows_of_the_processing_time_have_running_totals(streaming):
    streaming.execute_sql(SECONDS)
    sql = (
        "SELECT n, SUM(n) OVER (ORDER BY pt) AS a, SUM(n) OVER (ORDER BY pt RANGE BETWEEN "
        "UNBOUNDED PRECEDING AND CURRENT ROW) AS b FROM seconds"
    )
    expected = [(n, n * (n + 1) // 2) for n in range(1, 8)]
    assert rows(streaming.sql_query(sql)) == [(n, total, total) for n, total in expected]
    window = Over.order_by(col("pt")).preceding(UNBOUNDED_RANGE).alias("w")
    table = streaming.from_path("seconds").over_window(window)
    assert rows(table.select(col("n"), col("n").sum.over(col("w")))) == expected


def test_generated_values_may_have_no_nulls_inside(batch):
    batch.execute_sql(
        "CREATE TABLE g (a ARRAY<INT NOT NULL> NOT NULL, m MAP<STRING NOT NULL, "
        "ROW<x INT NOT NULL, l ARRAY<BIGINT NOT NULL>> NOT NULL>) WITH "
        "('connector' = 'datagen', 'number-of-rows' = '2')"
    )
    batch.execute_sql("CREATE VIEW v AS SELECT * FROM g")
    found = rows(batch.from_path("v"))
    assert [len(a) for a, _ in found] == [3, 3]
