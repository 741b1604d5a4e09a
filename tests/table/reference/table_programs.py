"""Programs of the Table API that run under PyFlink and under PyFlow.

A program is a function of the package's names (`Names`) that returns a table. `outcome` prints
its schema and its rows. `record_tables.py` keeps what PyFlink prints.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from importlib import import_module
from types import SimpleNamespace

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def names_of(package, t_env):
    """What a program of this package imports."""
    table = import_module(f"{package}.table")
    expressions = import_module(f"{package}.table.expressions")
    udf = import_module(f"{package}.table.udf")
    window = import_module(f"{package}.table.window")
    names = {name: getattr(table, name) for name in table.__all__}
    names |= {name: getattr(expressions, name) for name in expressions.__all__}
    names |= {name: getattr(udf, name) for name in ("udf", "udtf", "udaf", "udtaf")}
    names |= {name: getattr(window, name) for name in ("Tumble", "Slide", "Session", "Over")}
    return SimpleNamespace(t_env=t_env, **names)


ORDERS = [
    (1, "Alice", "book", 12.5),
    (2, "Bob", "pen", 1.5),
    (3, "Alice", "pen", 2.0),
    (4, "Carol", "book", 10.0),
    (5, "Bob", None, None),
    (6, "Alice", "book", 12.5),
    (7, None, "pen", 3.25),
]


def orders(p):
    return p.t_env.from_elements(
        ORDERS,
        p.DataTypes.ROW(
            [
                p.DataTypes.FIELD("id", p.DataTypes.BIGINT()),
                p.DataTypes.FIELD("name", p.DataTypes.STRING()),
                p.DataTypes.FIELD("item", p.DataTypes.STRING()),
                p.DataTypes.FIELD("price", p.DataTypes.DOUBLE()),
            ]
        ),
    )


def people(p):
    return p.t_env.from_elements(
        [("Alice", 30), ("Bob", 40), ("Dora", 50)],
        p.DataTypes.ROW(
            [
                p.DataTypes.FIELD("who", p.DataTypes.STRING()),
                p.DataTypes.FIELD("age", p.DataTypes.INT()),
            ]
        ),
    )


@program
def elements_inferred(p):
    return p.t_env.from_elements([(1, "Hi", True), (2, "Hello", None)])


@program
def elements_named(p):
    return p.t_env.from_elements([(1, 2.5), (2, -1e-7)], ["a", "b"])


@program
def elements_of_rows(p):
    return p.t_env.from_elements([p.Row(a=1, b="x"), p.Row(a=2, b="y")])


@program
def elements_of_dicts(p):
    return p.t_env.from_elements([{"b": 1, "a": "x"}, {"b": 2, "a": None}])


@program
def elements_of_types(p):
    d = p.DataTypes
    types = {
        "tiny": (d.TINYINT(), [1, None]),
        "small": (d.SMALLINT(), [2, -2]),
        "int": (d.INT(), [3, -3]),
        "big": (d.BIGINT(), [4, -4]),
        "float": (d.FLOAT(), [1.5, 0.1]),
        "double": (d.DOUBLE(), [1e10, 123456.789]),
        "decimal": (d.DECIMAL(10, 3), [Decimal("1.5"), Decimal("-0.125")]),
        "bool": (d.BOOLEAN(), [True, False]),
        "date": (d.DATE(), [datetime.date(2020, 2, 29), None]),
        "text": (d.STRING(), ["a longer text than thirty characters", "日本語"]),
        "stamp3": (d.TIMESTAMP(3), [datetime.datetime(2020, 1, 2, 3, 4, 5, 678000), None]),
        "stamp6": (d.TIMESTAMP(6), [datetime.datetime(2020, 1, 2, 3, 4, 5), None]),
    }
    fields = [d.FIELD(name, data_type) for name, (data_type, _) in types.items()]
    rows = list(zip(*(values for _, values in types.values())))
    return p.t_env.from_elements(rows, d.ROW(fields))


@program
def elements_nested(p):
    d = p.DataTypes
    inner = d.ROW([d.FIELD("x", d.INT()), d.FIELD("y", d.STRING())])
    fields = [
        d.FIELD("a", d.ARRAY(d.INT())),
        d.FIELD("m", d.MAP(d.STRING(), d.INT())),
        d.FIELD("r", inner),
        d.FIELD("b", d.BYTES()),
    ]
    return p.t_env.from_elements(
        [([1, None, 3], {"k": 1}, p.Row(1, "z"), bytearray(b"\x01\xff")), (None, None, None, None)],
        d.ROW(fields),
    )


@program
def empty(p):
    return orders(p).filter(p.col("id") > 100)


@program
def select_names(p):
    return orders(p).select(p.col("id") + 1, p.col("name"), p.col("price") * 2, p.lit(1))


@program
def select_alias(p):
    return orders(p).select(p.col("id").alias("n"), p.col("name").upper_case.alias("u"))


@program
def alias_some(p):
    return orders(p).alias("a", "b")


@program
def filters(p):
    return orders(p).where(p.col("price") > 2).filter(p.col("name") == "Alice")


@program
def column_operations(p):
    table = orders(p).add_columns((p.col("id") * 10).alias("ten"), p.concat(p.col("name"), "!"))
    table = table.add_or_replace_columns(p.col("price").cast(p.DataTypes.INT()).alias("price"))
    return table.rename_columns(p.col("ten").alias("tens")).drop_columns(p.col("item"))


@program
def with_and_without_columns(p):
    return orders(p).select(
        p.with_columns(p.range_(2, 3)), p.without_columns(p.col("name"), p.col("item"))
    )


@program
def group_count(p):
    return orders(p).group_by(p.col("name")).select(p.col("name"), p.col("id").count)


@program
def group_aggregates(p):
    price = p.col("price")
    return (
        orders(p)
        .group_by(p.col("item"))
        .select(
            p.col("item"),
            price.sum,
            price.max.alias("most"),
            price.min,
            price.avg,
            price.count,
            p.col("name").count.distinct.alias("names"),
        )
    )


@program
def group_same_twice(p):
    return orders(p).group_by(p.col("item")).select(p.col("id").sum, p.col("id").sum)


@program
def group_expression_of_aggregates(p):
    return (
        orders(p)
        .group_by(p.col("item"))
        .select(p.col("item"), p.col("id").sum + 1, (p.col("id").max - p.col("id").min).alias("r"))
    )


@program
def group_by_expression(p):
    return (
        orders(p).group_by((p.col("id") % 2).alias("odd")).select(p.col("odd"), p.col("price").sum0)
    )


@program
def group_without_keys(p):
    return orders(p).select(p.col("id").count, p.col("price").max)


@program
def group_without_rows(p):
    return orders(p).filter(p.col("id") > 100).select(p.col("id").count, p.col("price").max)


@program
def group_of_group(p):
    return (
        orders(p)
        .group_by(p.col("name"))
        .select(p.col("name"), p.col("id").count.alias("n"))
        .group_by(p.col("n"))
        .select(p.col("n"), p.col("name").count)
    )


@program
def group_then_filter(p):
    counted = orders(p).group_by(p.col("name")).select(p.col("name"), p.col("id").count.alias("n"))
    return counted.filter(p.col("n") > 1)


@program
def distinct_items(p):
    return orders(p).select(p.col("item")).distinct()


@program
def inner_join(p):
    return orders(p).join(people(p), p.col("name") == p.col("who"))


@program
def inner_join_then_select(p):
    joined = orders(p).join(people(p)).where(p.col("name") == p.col("who"))
    return joined.select(p.col("id"), p.col("age"))


@program
def left_join(p):
    return orders(p).left_outer_join(people(p), p.col("name") == p.col("who"))


@program
def right_join(p):
    return orders(p).right_outer_join(people(p), p.col("name") == p.col("who"))


@program
def full_join(p):
    return orders(p).full_outer_join(people(p), p.col("name") == p.col("who"))


@program
def join_ambiguous(p):
    return orders(p).join(orders(p), p.col("id") == p.col("id"))


@program
def join_not_equal(p):
    return orders(p).join(people(p), p.col("id") > p.col("age"))


@program
def union_all(p):
    one = orders(p).select(p.col("id"), p.col("name"))
    return one.union_all(one.select(p.col("id").alias("x"), p.col("name").alias("y")))


@program
def union_of_types(p):
    one = orders(p).select(p.col("id"))
    return one.union_all(people(p).select(p.col("age")))


@program
def union_of_sizes(p):
    return orders(p).union_all(people(p))


@program
def union_distinct(p):
    items = orders(p).select(p.col("item"))
    return items.union(items)


def _two(p):
    left = p.t_env.from_elements([(1,), (1,), (1,), (2,), (3,)], ["a"])
    return left, p.t_env.from_elements([(1,), (3,), (3,), (4,)], ["a"])


@program
def minus(p):
    left, right = _two(p)
    return left.minus(right)


@program
def minus_all(p):
    left, right = _two(p)
    return left.minus_all(right)


@program
def intersect(p):
    left, right = _two(p)
    return left.intersect(right)


@program
def intersect_all(p):
    left, right = _two(p)
    return left.intersect_all(right)


@program
def sorted_rows(p):
    return orders(p).order_by(p.col("name").desc, p.col("price").asc)


@program
def sorted_and_fetched(p):
    return orders(p).order_by(p.col("price").desc, p.col("id")).fetch(2)


@program
def sorted_with_offset(p):
    return orders(p).order_by(p.col("id")).offset(2).fetch(3)


@program
def limited(p):
    return orders(p).limit(3)


@program
def offset_alone(p):
    return orders(p).offset(2)


@program
def mapped(p):
    d = p.DataTypes
    result = d.ROW([d.FIELD("n", d.BIGINT()), d.FIELD("t", d.STRING())])
    new_row = p.Row  # a function that names p would take the environment with it
    function = p.udf(lambda row: new_row(row.id * 2, str(row.name)), result_type=result)
    return orders(p).map(function)


@program
def mapped_call(p):
    function = p.udf(lambda i: i + 1, result_type=p.DataTypes.BIGINT())
    return orders(p).map(function(p.col("id")))


@program
def flat_mapped(p):
    d = p.DataTypes

    @p.udtf(result_types=[d.STRING(), d.INT()])
    def letters(text):
        for letter in text or "":
            yield letter, ord(letter)

    return orders(p).flat_map(letters(p.col("item")))


@program
def joined_laterally(p):
    @p.udtf(result_types=[p.DataTypes.STRING()])
    def halves(text):
        if text:
            yield text[:2]
            yield text[2:]

    return orders(p).join_lateral(halves(p.col("item")).alias("half"))


@program
def joined_laterally_outer(p):
    @p.udtf(result_types=[p.DataTypes.STRING()])
    def halves(text):
        if text:
            yield text[:2]
            yield text[2:]

    table = orders(p).select(p.col("id"), p.col("item"))
    return table.left_outer_join_lateral(halves(p.col("item")).alias("half"))


@program
def joined_laterally_unnamed(p):
    @p.udtf(result_types=[p.DataTypes.STRING()])
    def halves(text):
        yield text

    return orders(p).join_lateral(halves)


@program
def scalar_function(p):
    double = p.udf(lambda i: i * 2, result_type=p.DataTypes.BIGINT())
    return orders(p).select(p.col("id"), double(p.col("id")))


@program
def window_not_on_time(p):
    window = p.Tumble.over(p.lit(5).minutes).on(p.col("id")).alias("w")
    return orders(p).window(window).group_by(p.col("w")).select(p.col("id").count)


def events(p):
    d = p.DataTypes
    start = datetime.datetime(2024, 5, 1, 12, 0, 0)
    rows = [
        (1000, "Alice", 110.1),
        (4000, "Bob", 30.2),
        (3000, "Alice", 20.0),
        (2000, "Bob", 53.1),
        (5000, "Alice", 13.1),
        (3000, "Bob", 3.1),
        (8000, "Bob", 16.1),
        (10000, "Alice", 20.1),
    ]
    return p.t_env.from_elements(
        [(start + datetime.timedelta(milliseconds=ms), name, price) for ms, name, price in rows],
        d.ROW(
            [
                d.FIELD("ts", d.TIMESTAMP(3)),
                d.FIELD("name", d.STRING()),
                d.FIELD("price", d.DOUBLE()),
            ]
        ),
    )


@program
def tumbling(p):
    window = p.Tumble.over(p.lit(5).seconds).on(p.col("ts")).alias("w")
    grouped = events(p).window(window).group_by(p.col("name"), p.col("w"))
    w = p.col("w")
    return grouped.select(p.col("name"), p.col("price").sum, w.start, w.end, w.rowtime.alias("t"))


@program
def sliding(p):
    window = p.Slide.over(p.lit(4).seconds).every(p.lit(2).seconds).on(p.col("ts")).alias("w")
    grouped = events(p).window(window).group_by(p.col("name"), p.col("w"))
    return grouped.select(p.col("name"), p.col("price").count.alias("n"), p.col("w").start)


@program
def sessions(p):
    window = p.Session.with_gap(p.lit(2).seconds).on(p.col("ts")).alias("w")
    grouped = events(p).window(window).group_by(p.col("name"), p.col("w"))
    return grouped.select(p.col("name"), p.col("price").sum, p.col("w").start, p.col("w").end)


@program
def tumbling_rows(p):
    window = p.Tumble.over(p.row_interval(2)).on(p.col("ts")).alias("w")
    grouped = events(p).window(window).group_by(p.col("name"), p.col("w"))
    return grouped.select(p.col("name"), p.col("price").count.alias("n"))


def _by_clock(p, window, *selected):
    """Selections of windows of so many rows, which Flink has by the processing time only."""
    p.t_env.create_temporary_view("orders", orders(p))
    timed = p.t_env.sql_query("SELECT *, PROCTIME() AS arrived FROM orders")
    grouped = timed.window(window.on(p.col("arrived")).alias("w"))
    return grouped.group_by(p.col("item"), p.col("w")).select(p.col("item"), *selected)


@program
def tumbling_rows_by_clock(p):
    window = p.Tumble.over(p.row_interval(2))
    return _by_clock(p, window, p.col("id").min, p.col("id").max, p.col("price").sum)


@program
def sliding_rows_by_clock(p):
    window = p.Slide.over(p.row_interval(2)).every(p.row_interval(1))
    names = p.col("name").count.distinct
    return _by_clock(p, window, p.col("id").min, p.col("id").max, p.col("price").sum, names)


@program
def sliding_rows_apart(p):
    window = p.Slide.over(p.row_interval(1)).every(p.row_interval(2))
    largest = p.udaf(lambda ids: ids.max(), result_type=p.DataTypes.BIGINT(), func_type="pandas")
    return _by_clock(p, window, largest(p.col("id")))


@program
def over_rows(p):
    window = (
        p.Over.partition_by(p.col("name"))
        .order_by(p.col("ts"))
        .preceding(p.row_interval(1))
        .following(p.CURRENT_ROW)
        .alias("w")
    )
    over = events(p).over_window(window)
    return over.select(p.col("name"), p.col("ts"), p.col("price").max.over(p.col("w")))


@program
def over_range(p):
    window = (
        p.Over.partition_by(p.col("name"))
        .order_by(p.col("ts"))
        .preceding(p.UNBOUNDED_RANGE)
        .following(p.CURRENT_RANGE)
        .alias("w")
    )
    over = events(p).over_window(window)
    w = p.col("w")
    return over.select(p.col("name"), p.col("ts"), p.col("price").sum.over(w).alias("s"))


@program
def over_interval(p):
    window = (
        p.Over.partition_by(p.col("name"))
        .order_by(p.col("ts"))
        .preceding(p.lit(2).seconds)
        .following(p.CURRENT_RANGE)
        .alias("w")
    )
    over = events(p).over_window(window)
    return over.select(p.col("name"), p.col("ts"), p.col("price").count.over(p.col("w")))


@program
def expressions_as_elements(p):
    d = p.DataTypes
    return p.t_env.from_elements(
        [p.row(1, "abc", 2.0), p.row(2, "def", 3.0)],
        d.ROW([d.FIELD("a", d.INT()), d.FIELD("b", d.STRING()), d.FIELD("c", d.FLOAT())]),
    )


@program
def missing_column(p):
    return orders(p).select(p.col("nothing"))


@program
def ambiguous_names(p):
    return orders(p).select(p.col("id"), p.col("name").alias("id"))


@program
def add_column_again(p):
    return orders(p).add_columns(p.col("price").alias("id"))


@program
def drop_missing(p):
    return orders(p).drop_columns(p.col("nothing"))


@program
def rename_without_alias(p):
    return orders(p).rename_columns(p.col("id"))


@program
def filter_not_boolean(p):
    return orders(p).filter(p.col("id") + 1)


@program
def aggregate_in_added_column(p):
    return orders(p).add_columns(p.col("id").sum.alias("s"))
