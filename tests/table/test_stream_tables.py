"""Programs over unbounded tables whose results change: joins, sets, Top-N, Python aggregates."""

from __future__ import annotations

import pytest

from pyflow.common import Row
from pyflow.table import AggregateFunction, DataTypes, ListView, MapView, TableAggregateFunction
from pyflow.table.expressions import col
from pyflow.table.udf import udaf, udtaf
from pyflow.util.exceptions import TableException
from streams import Source, applied, changes


class Median(AggregateFunction):
    """Keeps its values in a list of the state, and how often each is there in a map."""

    def create_accumulator(self):
        return Row(ListView(), MapView(), 0)

    def accumulate(self, accumulator, value):
        accumulator[0].add(value)
        seen = accumulator[1]
        seen.put(value, seen.get(value) + 1 if seen.contains(value) else 1)
        accumulator[2] += 1

    def retract(self, accumulator, value):
        values = list(accumulator[0])
        values.remove(value)
        accumulator[0].clear()
        accumulator[0].add_all(values)
        accumulator[2] -= 1

    def get_value(self, accumulator):
        values = sorted(accumulator[0])
        return values[len(values) // 2] * 1000 + accumulator[2]

    def get_accumulator_type(self):
        return DataTypes.ROW(
            [
                DataTypes.FIELD("list", DataTypes.LIST_VIEW(DataTypes.BIGINT())),
                DataTypes.FIELD("map", DataTypes.MAP_VIEW(DataTypes.BIGINT(), DataTypes.BIGINT())),
                DataTypes.FIELD("count", DataTypes.BIGINT()),
            ]
        )

    def get_result_type(self):
        return DataTypes.BIGINT()


class Greatest(TableAggregateFunction):
    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, value):
        accumulator.append(value)

    def retract(self, accumulator, value):
        accumulator.remove(value)

    def emit_value(self, accumulator):
        for rank, value in enumerate(sorted(accumulator, reverse=True)[:2], 1):
            yield Row(rank, value)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.ROW(
            [DataTypes.FIELD("rank", DataTypes.INT()), DataTypes.FIELD("value", DataTypes.BIGINT())]
        )


@pytest.fixture
def orders(spark, tmp_path):
    made = Source(spark, tmp_path, "k STRING; v BIGINT")
    made.add([("a", 1), ("b", 5), ("a", 3)])
    made.add([("a", 2), ("c", 7)])
    return made


@pytest.fixture
def names(spark, tmp_path):
    made = Source(spark, tmp_path, "id STRING; name STRING")
    made.add([("a", "Anna"), ("d", "Dora")])
    made.add([("b", "Bert")])
    return made


def test_an_outer_join_of_an_aggregate_takes_padded_rows_back(streaming, orders, names, tmp_path):
    sums = orders.table(streaming).group_by(col("k")).select(col("k"), col("v").sum.alias("s"))
    result = sums.full_outer_join(names.table(streaming), col("k") == col("id"))

    found = changes(result, tmp_path / "checkpoint")

    assert applied(found) == {
        repr(row): 1
        for row in [
            ("a", 6, "a", "Anna"),
            ("b", 5, "b", "Bert"),
            ("c", 7, None, None),
            (None, None, "d", "Dora"),
        ]
    }


def test_python_aggregates_have_their_views_in_state(streaming, orders, tmp_path):
    table = orders.table(streaming)
    result = table.group_by(col("k")).select(col("k"), udaf(Median())(col("v")))

    first, second = changes(result, tmp_path / "checkpoint")

    assert sorted(first) == [("+I", "a", 3002), ("+I", "b", 5001)]
    assert sorted(second) == [("+I", "c", 7001), ("+U", "a", 2003), ("-U", "a", 3002)]


def test_views_that_are_declared_must_be_there(streaming, orders, tmp_path):
    class Wrong(Median):
        def create_accumulator(self):
            return Row(ListView(), {}, 0)

    table = orders.table(streaming)
    result = table.group_by(col("k")).select(col("k"), udaf(Wrong())(col("v")))

    with pytest.raises(
        Exception, match=r"Wrong declares field 1 of it as MapView, but .* a dict there"
    ):
        changes(result, tmp_path / "checkpoint")


def test_views_that_are_not_declared_are_kept_with_the_accumulator(streaming, orders, tmp_path):
    class Whole(Median):
        def get_accumulator_type(self):
            return DataTypes.ROW([DataTypes.FIELD("any", DataTypes.BYTES())])

    table = orders.table(streaming)
    result = table.group_by(col("k")).select(col("k"), udaf(Whole())(col("v")))

    _, second = changes(result, tmp_path / "checkpoint")

    assert sorted(second) == [("+I", "c", 7001), ("+U", "a", 2003), ("-U", "a", 3002)]


def test_table_aggregates_emit_their_rows_anew(streaming, orders, tmp_path):
    table = orders.table(streaming)
    call = udtaf(Greatest())(col("v")).alias("rank", "value")
    result = table.group_by(col("k")).flat_aggregate(call).select(col("*"))

    first, second = changes(result, tmp_path / "checkpoint")

    assert sorted(first) == [("+I", "a", 1, 3), ("+I", "a", 2, 1), ("+I", "b", 1, 5)]
    assert sorted(second) == [
        ("+I", "a", 1, 3),
        ("+I", "a", 2, 2),
        ("+I", "c", 1, 7),
        ("-D", "a", 1, 3),
        ("-D", "a", 2, 1),
    ]


def test_the_first_rows_of_each_key_change_places(streaming, orders, tmp_path):
    streaming.create_temporary_view("orders", orders.table(streaming))
    result = streaming.sql_query(
        "SELECT k, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n"
        " FROM orders) WHERE n <= 2"
    )

    assert changes(result, tmp_path / "checkpoint") == [
        [
            ("+I", "a", 1, 1),
            ("+I", "b", 5, 1),
            ("-U", "a", 1, 1),
            ("+U", "a", 3, 1),
            ("+I", "a", 1, 2),
        ],
        [("-U", "a", 1, 2), ("+U", "a", 2, 2), ("+I", "c", 7, 1)],
    ]


def test_a_fetch_of_an_order_replaces_its_rows(streaming, orders, tmp_path):
    sums = orders.table(streaming).group_by(col("k")).select(col("k"), col("v").sum.alias("s"))
    result = sums.order_by(col("s").desc).fetch(2)

    found = changes(result, tmp_path / "checkpoint")

    assert applied(found) == {repr(("a", 6)): 1, repr(("c", 7)): 1}


def test_rows_that_both_tables_have_are_there_while_both_have_them(
    streaming, orders, names, tmp_path
):
    streaming.create_temporary_view("orders", orders.table(streaming))
    streaming.create_temporary_view("names", names.table(streaming))
    result = streaming.sql_query(
        "SELECT k FROM orders INTERSECT SELECT id FROM names UNION ALL SELECT k FROM orders o"
        " WHERE NOT EXISTS (SELECT * FROM names WHERE id = o.k) EXCEPT SELECT id FROM names"
    )

    found = changes(result, tmp_path / "checkpoint")

    assert applied(found) == {repr(("c",)): 1}


OVER = "SELECT SUM(v) OVER (PARTITION BY k ORDER BY v) FROM orders"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (OVER, "must be defined on a time attribute"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY v) AS n FROM orders", "where the outer query"),
        ("SELECT k FROM orders WHERE k NOT IN (SELECT id FROM names)", "use NOT EXISTS"),
        ("SELECT k, PERCENTILE(v, 0.5) FROM orders GROUP BY k", "PERCENTILE.*not supported"),
        (
            "SELECT * FROM orders LEFT JOIN names ON k = id AND (v = 1 OR name = 'a')",
            "write it as comparisons",
        ),
    ],
)
def test_what_is_not_supported_over_unbounded_tables_is_named_at_planning(
    streaming, orders, names, query, message
):
    streaming.create_temporary_view("orders", orders.table(streaming))
    streaming.create_temporary_view("names", names.table(streaming))

    with pytest.raises(TableException, match=message):
        streaming.sql_query(query)
