"""Programs of the Table API that give the same in thread mode, in process mode and over Connect.

A case is a function of a table environment. It returns a table, whose rows are compared, or a list
of what it has seen itself. `outcome` makes of both, and of an error, what can be compared.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import datetime
import functools
import io
import json
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from comparison import failure
from pyflow.common import Row
from pyflow.table import (
    DataTypes,
    EnvironmentSettings,
    ListView,
    MapView,
    Schema,
    TableDescriptor,
    TableEnvironment,
)
from pyflow.table.expressions import CURRENT_ROW, UNBOUNDED_RANGE, col, lit, row_interval
from pyflow.table.udf import (
    AggregateFunction,
    AsyncScalarFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    udaf,
    udf,
    udtaf,
    udtf,
)
from pyflow.table.window import Over, Session, Slide, Tumble
from sessions import FALLBACK

BOTH = ("batch", "streaming")


@dataclass(frozen=True)
class Case:
    """A program and where it runs.

    Parameters
    ----------
    run
        Takes a table environment.
    environments
        Batch mode, streaming mode or both.
    in_slice
        Whether `make test` runs it.
    """

    run: Callable[[Any], Any]
    environments: tuple[str, ...]
    in_slice: bool


CASES: dict[str, Case] = {}


def case(*environments, in_slice=False):
    """Add a case under the name of its function."""

    def add(run):
        CASES[run.__name__] = Case(run, environments or BOTH, in_slice)
        return run

    return add


def environment(kind, mode):
    """An environment over the active session, in batch or streaming mode and thread or process."""
    t_env = TableEnvironment.create(getattr(EnvironmentSettings, f"in_{kind}_mode")())
    t_env.get_config().set("parallelism.default", "1")
    t_env.get_config().set("python.execution-mode", mode)
    t_env.get_config().set("table.local-time-zone", "UTC")
    t_env._context.session.conf.set(FALLBACK, str(mode == "process").lower())
    return t_env


# What PySpark says of an error in a function in a session of Connect, where it has no parameters.
_OF_SERVER = re.compile(
    r"^(?:An exception was thrown from the Python worker[^\n]*\n)?"
    r"\[PYTHON_EXCEPTION\][^\n]*?: (?:Traceback [^\n]*\n)?(.*?)\n? SQLSTATE: \w+$",
    re.DOTALL,
)


def outcome(run, t_env):
    """The rows of a program, or its error, as texts and lists."""
    try:
        made = run(t_env)
        if isinstance(made, list):
            return {"rows": made}
        types = [data_type.sql for data_type in made.get_schema().get_field_data_types()]
        with made.execute().collect() as rows:
            found = [[str(row.get_row_kind()), *map(shown, row)] for row in rows]
    except Exception as error:
        seen = failure(error)
        return {"error": seen.exception, "detail": _OF_SERVER.sub(r"\1", seen.detail).strip()}
    return {"types": types, "rows": found}


def shown(value):
    """A text of a value and of its type."""
    if isinstance(value, Row):
        return f"Row({', '.join(map(shown, value))})"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{shown(k)}: {shown(v)}' for k, v in value.items()))}}}"
    return repr(value)


# Values of every type

_ZONE = datetime.timezone.utc
_INNER = DataTypes.ROW(
    [DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.STRING())]
)
#: By column: a type, and values that are at its edges.
TYPES = {
    "flag": (DataTypes.BOOLEAN(), [True, False]),
    "tiny": (DataTypes.TINYINT(), [-128, 127]),
    "small": (DataTypes.SMALLINT(), [-32768, 32767]),
    "int": (DataTypes.INT(), [-(2**31), 2**31 - 1]),
    "big": (DataTypes.BIGINT(), [-(2**63), 2**63 - 1]),
    "float": (DataTypes.FLOAT(), [0.1, -1e30]),
    "double": (DataTypes.DOUBLE(), [0.1, float("-inf")]),
    "decimal": (DataTypes.DECIMAL(10, 3), [Decimal("1.5"), Decimal("-9999999.999")]),
    "wide": (DataTypes.DECIMAL(38, 18), [Decimal("12345678901234567890.5"), Decimal(0)]),
    "char": (DataTypes.CHAR(3), ["abc", "ä€𝄞"]),
    "varchar": (DataTypes.VARCHAR(5), ["", "abcde"]),
    "text": (DataTypes.STRING(), ["日本語", "a\0b\n"]),
    "binary": (DataTypes.BINARY(2), [b"\x00\xff", b"ab"]),
    "bytes": (DataTypes.BYTES(), [b"", b"\x00a"]),
    "date": (DataTypes.DATE(), [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    "time": (DataTypes.TIME(3), [datetime.time(), datetime.time(23, 59, 59, 999000)]),
    "stamp": (
        DataTypes.TIMESTAMP(6),
        [datetime.datetime(1999, 12, 31), datetime.datetime(2024, 2, 29, 1, 2, 3, 456789)],
    ),
    "ancient": (
        DataTypes.TIMESTAMP(3),
        [datetime.datetime(1, 1, 1), datetime.datetime(1582, 10, 4)],
    ),
    "instant": (
        DataTypes.TIMESTAMP_LTZ(3),
        [
            datetime.datetime(1970, 1, 1, tzinfo=_ZONE),
            datetime.datetime(2024, 10, 27, 0, 30, 0, 1000, tzinfo=_ZONE),
        ],
    ),
    "array": (DataTypes.ARRAY(DataTypes.BIGINT()), [[1, None, 3], []]),
    "nested": (DataTypes.ARRAY(DataTypes.ARRAY(DataTypes.STRING())), [[["a"], None], [[]]]),
    "map": (DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()), [{"a": 1, "b": None}, {}]),
    "row": (_INNER, [Row(1, None), Row(None, "x")]),
    "rows": (DataTypes.ARRAY(_INNER), [[Row(1, "a"), Row(2, "b")], [None]]),
    "of_rows": (DataTypes.MAP(DataTypes.INT(), _INNER), [{1: Row(1, "a")}, {2: None}]),
}
#: What series of pandas do not carry.
NOT_IN_SERIES = {"ancient", "map", "of_rows", "nested", "rows"}
#: What stands for the others where a query is expensive to compile.
SOME_TYPES = ("tiny", "wide", "text", "bytes", "time", "instant", "array", "map", "row")


def values(t_env, names=tuple(TYPES)):
    """A table with a row number and columns of these types; its last row is null but for that."""
    fields = [DataTypes.FIELD("n", DataTypes.INT())]
    fields += [DataTypes.FIELD(name, TYPES[name][0]) for name in names]
    columns = [[*TYPES[name][1], None] for name in names]
    return t_env.from_elements(list(zip(range(3), *columns)), DataTypes.ROW(fields))


def kind_and_value(value):
    return f"{type(value).__name__} {shown(value)}"


@case(in_slice=True)
def scalar_of_every_type(t_env):
    """What a function gets is what it returns, and what it sees is told."""
    seen = udf(lambda *row: "; ".join(map(kind_and_value, row)), result_type="STRING")
    columns = [
        udf(lambda x: x, result_type=data_type)(col(name)).alias(name)
        for name, (data_type, _) in TYPES.items()
    ]
    return values(t_env).select(col("n"), *columns, seen(*map(col, TYPES)))


@case(in_slice=True)
def pandas_of_every_type(t_env):
    names = [name for name in TYPES if name not in NOT_IN_SERIES]

    def kinds(*columns):
        rows = zip(*(each.map(lambda x: type(x).__name__) for each in columns))
        return type(columns[0])(list(map(" ".join, rows)))

    seen = udf(kinds, result_type="STRING", func_type="pandas")
    columns = [
        udf(lambda s: s, result_type=TYPES[name][0], func_type="pandas")(col(name)).alias(name)
        for name in names
        if name != "row"
    ]
    # Of numbers and a null pandas makes floats.
    table = values(t_env, tuple(names)).filter(col("n") < 2)
    return table.select(col("n"), *columns, seen(*(col(name) for name in names if name != "row")))


@case()
def table_function_of_every_type(t_env):
    names = list(TYPES)
    same = udtf(lambda *row: [row, row], result_types=[TYPES[name][0] for name in names])
    table = values(t_env)
    call = same(*(col(name) for name in names)).alias(*(f"{name}_" for name in names))
    return table.join_lateral(call).select(col("n"), *(col(f"{name}_") for name in names))


class Last(AggregateFunction):
    """The last value that is not null."""

    def __init__(self, data_type):
        self.data_type = data_type

    def create_accumulator(self):
        return [None]

    def accumulate(self, accumulator, value):
        if value is not None:
            accumulator[0] = value

    def get_value(self, accumulator):
        return accumulator[0]

    def get_accumulator_type(self):
        return DataTypes.ARRAY(self.data_type)

    def get_result_type(self):
        return self.data_type


@case(in_slice=True)
def aggregate_of_every_type(t_env):
    calls = [udaf(Last(TYPES[name][0]))(col(name)).alias(name) for name in SOME_TYPES]
    return values(t_env, SOME_TYPES).group_by((col("n") > 0).alias("k")).select(col("k"), *calls)


@case()
def pandas_aggregate_of_every_type(t_env):
    names = [name for name in SOME_TYPES if name not in {*NOT_IN_SERIES, "array", "row"}]
    calls = [
        udaf(lambda s: s.iloc[0], result_type=TYPES[name][0], func_type="pandas")(col(name))
        for name in names
    ]
    table = values(t_env, tuple(names)).filter(col("n") < 2)
    named = [call.alias(name) for call, name in zip(calls, names)]
    return table.group_by(col("n")).select(col("n"), *named)


def fields_of_every_type():
    return [DataTypes.FIELD(name, data_type) for name, (data_type, _) in TYPES.items()]


class Twice(TableAggregateFunction):
    """All rows, twice."""

    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, *row):
        accumulator.append(Row(*row))

    def emit_value(self, accumulator):
        for row in accumulator:
            yield row
            yield row

    def get_accumulator_type(self):
        return DataTypes.ARRAY(self.get_result_type())

    def get_result_type(self):
        return DataTypes.ROW(fields_of_every_type())


@case()
def table_aggregate_of_every_type(t_env):
    call = udtaf(Twice())(*map(col, TYPES)).alias(*(f"{name}_" for name in TYPES))
    return values(t_env).group_by(col("n")).flat_aggregate(call).select(col("*"))


@case()
def table_aggregate_of_all_rows(t_env):
    call = udtaf(Twice())(*map(col, TYPES)).alias(*(f"{name}_" for name in TYPES))
    return values(t_env).flat_aggregate(call).select(col("*"))


@case()
def rows_of_every_type(t_env):
    """`map` and `flat_map`, over whole rows."""
    fields = [DataTypes.FIELD("n", DataTypes.INT()), *fields_of_every_type()]
    mapped = values(t_env).map(udf(lambda row: row, result_type=DataTypes.ROW(fields)))
    told = udtf(
        lambda row: [Row("; ".join(map(kind_and_value, row)), *row)] * 2,
        result_types=["STRING", *(field.data_type for field in fields)],
    )
    return mapped.flat_map(told)


# Functions of all kinds

ORDERS = [
    (1, "Alice", "book", 12.5),
    (2, "Bob", "pen", 1.5),
    (3, "Alice", "pen", 2.0),
    (4, "Carol", "book", 10.0),
    (5, "Bob", None, None),
    (6, "Alice", "book", 12.5),
    (7, None, "pen", 3.25),
]


def orders(t_env):
    types = {
        "id": DataTypes.BIGINT(),
        "name": DataTypes.STRING(),
        "item": DataTypes.STRING(),
        "price": DataTypes.DOUBLE(),
    }
    fields = [DataTypes.FIELD(name, data_type) for name, data_type in types.items()]
    return t_env.from_elements(ORDERS, DataTypes.ROW(fields))


class Opened(ScalarFunction):
    """Tells what `open` has prepared, how often it has been called, and its job's parameter."""

    def open(self, function_context):
        self.word = function_context.get_job_parameter("word", "none")
        self.opened = getattr(self, "opened", 0) + 1
        function_context.get_metric_group().counter("calls")

    def eval(self, x, *more):
        return f"{self.word} {self.opened} {x} {len(more)}"


@case(in_slice=True)
def scalar_functions(t_env):
    """Lambdas, classes, further arguments, constants, several calls, and calls of calls."""
    t_env.get_config().set("pipeline.global-job-parameters", "word:given")
    double = udf(lambda x: x * 2, result_type="BIGINT")
    both = udf(lambda a, b: f"{a}{b}", result_type="STRING")
    opened = udf(Opened(), result_type="STRING")
    return orders(t_env).select(
        double(double(col("id"))),
        both(col("name"), col("item")),
        both(both("x", col("id")), 1),
        opened(col("id")),
        opened(col("id"), col("name"), 3),
        udf(lambda: 7, result_type="INT")(),
        double(col("id")) + double(col("id") + 1),
    )


@case()
def scalar_functions_in_conditions(t_env):
    odd = udf(lambda x: x % 2 == 1, result_type="BOOLEAN")
    size = udf(lambda s: len(s or ""), result_type="INT")
    table = orders(t_env).filter(odd(col("id")) | (size(col("name")) > 3))
    return table.group_by(size(col("item")).alias("n")).select(col("n"), col("id").sum)


@case()
def pandas_beside_general_functions(t_env):
    import pandas

    plus = udf(lambda a, b: a + b, result_type="DOUBLE", func_type="pandas")
    inner = udf(lambda x: x + 1, result_type="BIGINT")
    upper = udf(lambda s: s.str.upper(), result_type="STRING", func_type="pandas")
    rows = udf(
        lambda i, p: pandas.DataFrame({"a": i, "b": p.astype(str)}),
        result_type=DataTypes.ROW(
            [DataTypes.FIELD("a", DataTypes.BIGINT()), DataTypes.FIELD("b", DataTypes.STRING())]
        ),
        func_type="pandas",
    )
    return orders(t_env).select(
        plus(col("price"), inner(col("id"))),
        inner(col("id")),
        upper(col("name")),
        rows(col("id"), col("price")).alias("r"),
    )


class Slow(AsyncScalarFunction):
    """The later rows are ready first; every third call fails at first."""

    def open(self, function_context):
        self.failed = set()

    async def eval(self, x):
        await asyncio.sleep(0.001 * (7 - x))
        if x % 3 == 0 and x not in self.failed:
            self.failed.add(x)
            raise ValueError(f"not yet {x}")
        return x * 10


@case(in_slice=True)
def asynchronous_function(t_env):
    t_env.get_config().set("table.exec.async-scalar.retry-delay", "1 ms")
    return orders(t_env).select(col("id"), udf(Slow(), result_type="BIGINT")(col("id")))


class Words(TableFunction):
    """Opens what it yields."""

    def open(self, function_context):
        self.mark = "!"

    def eval(self, text, times):
        for n in range(times):
            if text is not None:
                yield text + self.mark, n


@case()
def table_functions(t_env):
    words = udtf(Words(), result_types=["STRING", "INT"])
    table = orders(t_env).select(col("id"), col("item"))
    inner = table.join_lateral(words(col("item"), 2).alias("w", "n"))
    outer = inner.left_outer_join_lateral(words(col("w"), col("n")).alias("x", "m"))
    return outer.where(col("id") < 6)


@case()
def rows_of_rows(t_env):
    """`map` and `flat_map`, over whole rows and over calls."""
    result = DataTypes.ROW(
        [DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("t", DataTypes.STRING())]
    )
    mapped = orders(t_env).map(udf(lambda row: Row(row.id * 2, row[1]), result_type=result))
    letters = udtf(
        lambda row: [Row(each, row.n) for each in (row.t or "")[:2]],
        result_types=["STRING", "BIGINT"],
    )
    return mapped.flat_map(letters)


@case()
def mapped_frames(t_env):
    result = DataTypes.ROW(
        [DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("t", DataTypes.STRING())]
    )
    function = udf(
        lambda frame: frame[["id", "name"]].assign(id=frame["id"] + 1),
        result_type=result,
        func_type="pandas",
    )
    return orders(t_env).map(function)


class Mean(AggregateFunction):
    """Weighted, with an accumulator that can retract."""

    def open(self, function_context):
        self.opened = True

    def create_accumulator(self):
        return Row(0.0, 0)

    def accumulate(self, accumulator, value, weight):
        if value is not None:
            accumulator[0] += value * weight
            accumulator[1] += weight

    def retract(self, accumulator, value, weight):
        self.accumulate(accumulator, value, -weight)

    def get_value(self, accumulator):
        assert self.opened
        return accumulator[0] / accumulator[1] if accumulator[1] else None

    def get_accumulator_type(self):
        return DataTypes.ROW(
            [DataTypes.FIELD("sum", DataTypes.DOUBLE()), DataTypes.FIELD("n", DataTypes.BIGINT())]
        )

    def get_result_type(self):
        return DataTypes.DOUBLE()


class Seen(AggregateFunction):
    """Keeps values in a list, and how often each is there in a map."""

    def create_accumulator(self):
        return Row(ListView(), MapView())

    def accumulate(self, accumulator, value):
        accumulator[0].add(value)
        counts = accumulator[1]
        counts.put(value, counts.get(value) + 1 if counts.contains(value) else 1)

    def retract(self, accumulator, value):
        rest = list(accumulator[0])
        rest.remove(value)
        accumulator[0].clear()
        accumulator[0].add_all(rest)
        counts = accumulator[1]
        counts.put(value, counts.get(value) - 1)
        if not counts.get(value):
            counts.remove(value)

    def get_value(self, accumulator):
        counts = sorted(accumulator[1].items(), key=repr)
        return f"{len(list(accumulator[0]))}: {counts}"

    def get_accumulator_type(self):
        text = DataTypes.STRING()
        return DataTypes.ROW(
            [
                DataTypes.FIELD("list", DataTypes.LIST_VIEW(text)),
                DataTypes.FIELD("map", DataTypes.MAP_VIEW(text, DataTypes.BIGINT())),
            ]
        )

    def get_result_type(self):
        return DataTypes.STRING()


class Greatest(TableAggregateFunction):
    """The two greatest values with their ranks."""

    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, value):
        if value is not None:
            accumulator.append(value)

    def retract(self, accumulator, value):
        if value is not None:
            accumulator.remove(value)

    def emit_value(self, accumulator):
        for rank, value in enumerate(sorted(accumulator, reverse=True)[:2], 1):
            yield Row(rank, value)

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.DOUBLE())

    def get_result_type(self):
        return DataTypes.ROW(
            [DataTypes.FIELD("r", DataTypes.INT()), DataTypes.FIELD("v", DataTypes.DOUBLE())]
        )


def pandas_mean(values):
    return values.mean()


@case(in_slice=True)
def aggregates(t_env):
    """Those of Python, with views and distinct arguments, beside built-in ones."""
    mean = udaf(Mean())
    seen = udaf(Seen())
    return (
        orders(t_env)
        .group_by(col("name"))
        .select(
            col("name"),
            mean(col("price"), col("id")).alias("mean"),
            seen(col("item")).alias("seen"),
            col("price").sum.alias("sum"),
            seen(col("item")).distinct.alias("distinct"),
        )
    )


@case()
def aggregates_without_keys(t_env):
    return orders(t_env).select(udaf(Seen())(col("item")), udaf(Mean())(col("price"), 1))


@case()
def aggregates_of_no_rows(t_env):
    return orders(t_env).filter(col("id") > 99).select(udaf(Mean())(col("price"), 1))


@case(in_slice=True)
def pandas_aggregates(t_env):
    mean = udaf(pandas_mean, result_type="DOUBLE", func_type="pandas")
    most = udaf(lambda a, b: float(a.max() + b.max()), result_type="DOUBLE", func_type="pandas")
    grouped = orders(t_env).group_by(col("item"))
    return grouped.select(col("item"), mean(col("price")), most(col("id"), col("price")))


@case()
def pandas_beside_general_aggregates(t_env):
    mean = udaf(pandas_mean, result_type="DOUBLE", func_type="pandas")
    grouped = orders(t_env).group_by(col("item"))
    return grouped.select(col("item"), mean(col("price")), udaf(Mean())(col("price"), col("id")))


@case(in_slice=True)
def table_aggregates(t_env):
    call = udtaf(Greatest())(col("price")).alias("r", "v")
    return orders(t_env).group_by(col("item")).flat_aggregate(call).select(col("*"))


@case()
def aggregated_rows(t_env):
    call = udaf(Mean())(col("price"), col("id")).alias("m")
    return orders(t_env).group_by(col("item")).aggregate(call).select(col("item"), col("m"))


@case()
def aggregate_of_an_aggregate(t_env):
    seen = udaf(Seen())
    one = orders(t_env).group_by(col("name")).select(col("name"), seen(col("item")).alias("s"))
    return one.group_by(col("s").char_length.alias("n")).select(col("n"), seen(col("name")))


# Errors


def _fails(x):
    raise KeyError(f"no row {x}")


class FailsLater(ScalarFunction):
    def __init__(self, where):
        self.where = where

    def open(self, function_context):
        if self.where == "open":
            raise RuntimeError("cannot open")

    def eval(self, x):
        if self.where == "eval" and x == 3:
            raise ValueError("x is 3")
        return x


class FailingAggregate(Mean):
    def __init__(self, where):
        self.where = where

    def accumulate(self, accumulator, value, weight):
        if self.where == "accumulate":
            raise ValueError("cannot accumulate")

    def get_value(self, accumulator):
        return "a text" if self.where == "type" else 1 / 0


def _scalar(function, result_type="BIGINT", **options):
    def run(t_env):
        # Of one row, since how many are in a batch is not the same over Connect.
        table = orders(t_env).filter(col("id") == 3)
        return table.select(udf(function, result_type=result_type, **options)(col("id")))

    return run


def _lateral(function, result_types="BIGINT"):
    def run(t_env):
        call = udtf(function, result_types=result_types)(col("id")).alias("x")
        return orders(t_env).join_lateral(call).select(col("x"))

    return run


def _aggregate(function):
    def run(t_env):
        return orders(t_env).group_by(col("item")).select(function(col("price"), col("id")))

    return run


def _generator_fails(x):
    yield x
    raise KeyError("after a row")


class AsyncFails(AsyncScalarFunction):
    async def eval(self, x):
        raise ValueError("always")


ERRORS = {
    "eval_raises": (_scalar(_fails), True),
    "eval_raises_later": (_scalar(FailsLater("eval")), False),
    "open_raises": (_scalar(FailsLater("open")), False),
    "result_of_another_type": (_scalar(lambda x: "a"), True),
    "result_that_does_not_fit": (_scalar(lambda x: 2**40, "INT"), False),
    "result_that_is_no_decimal": (_scalar(lambda x: Decimal(10**9), "DECIMAL(5, 2)"), False),
    "result_in_an_array": (_scalar(lambda x: [x, "a"], "ARRAY<BIGINT>"), False),
    "row_of_another_size": (_scalar(lambda x: Row(x, x), "ROW<a BIGINT>"), False),
    "function_with_other_arguments": (_scalar(lambda: 1), False),
    "pandas_raises": (_scalar(_fails, func_type="pandas"), False),
    "pandas_of_another_type": (_scalar(lambda s: s.map(str) + "x", func_type="pandas"), False),
    "pandas_of_another_length": (_scalar(lambda s: s[:0], func_type="pandas"), False),
    "pandas_is_no_series": (_scalar(lambda s: 1, func_type="pandas"), False),
    "asynchronous_raises": (_scalar(AsyncFails()), False),
    "table_function_raises": (_lateral(_generator_fails), True),
    "table_function_of_another_type": (_lateral(lambda x: ["a"]), False),
    "table_function_of_more_columns": (_lateral(lambda x: [(1, 2)]), False),
    "aggregate_raises": (_aggregate(udaf(FailingAggregate("accumulate"))), True),
    "aggregate_raises_at_the_end": (_aggregate(udaf(FailingAggregate("end"))), False),
    "aggregate_of_another_type": (_aggregate(udaf(FailingAggregate("type"))), False),
    "pandas_aggregate_raises": (
        _aggregate(udaf(lambda a, b: 1 / 0, result_type="DOUBLE", func_type="pandas")),
        False,
    ),
    "pandas_aggregate_of_another_type": (
        _aggregate(udaf(lambda a, b: "x", result_type="DOUBLE", func_type="pandas")),
        False,
    ),
}
for _name, (_run, _in_slice) in ERRORS.items():
    CASES[_name] = Case(_run, BOTH, _in_slice)


# Queries with functions, by methods


def names(t_env):
    fields = [
        DataTypes.FIELD("who", DataTypes.STRING()),
        DataTypes.FIELD("age", DataTypes.INT()),
    ]
    return t_env.from_elements([("Alice", 30), ("Bob", 40), ("Dora", 50)], DataTypes.ROW(fields))


SHOUT = udf(lambda s: None if s is None else s.upper(), result_type="STRING")


def shouted(t_env):
    return orders(t_env).select(col("id"), SHOUT(col("name")).alias("name"), col("price"))


def _join(kind):
    def run(t_env):
        loud = names(t_env).select(SHOUT(col("who")).alias("who"), col("age"))
        return getattr(shouted(t_env), kind)(loud, col("name") == col("who"))

    return run


for _name in ("join", "left_outer_join", "right_outer_join", "full_outer_join"):
    CASES[_name] = Case(_join(_name), BOTH, False)


def _sets(kind):
    def run(t_env):
        one = shouted(t_env).select(col("name"))
        return getattr(one, kind)(names(t_env).select(SHOUT(col("who"))))

    return run


for _name in ("union_all", "union", "minus", "minus_all", "intersect", "intersect_all"):
    CASES[_name] = Case(_sets(_name), BOTH if _name == "union_all" else ("batch",), False)


@case()
def grouped_by_results(t_env):
    table = shouted(t_env).group_by(col("name"))
    return table.select(col("name"), col("id").count, SHOUT(col("name")), col("price").max)


@case()
def distinct_results(t_env):
    return shouted(t_env).select(col("name")).distinct()


@case()
def ordered_results(t_env):
    return shouted(t_env).order_by(col("name").desc, col("id")).offset(1).fetch(3)


@case()
def changed_columns(t_env):
    table = shouted(t_env).add_columns(SHOUT(col("name")).alias("again"))
    return table.rename_columns(col("again").alias("more")).drop_columns(col("price"))


EVENTS = """\
2024-05-01 12:00:01,Alice,110.1
2024-05-01 12:00:02,Bob,53.1
2024-05-01 12:00:03,Alice,20.0
2024-05-01 12:00:04,Bob,30.2
2024-05-01 12:00:05,Alice,13.1
2024-05-01 12:00:08,Bob,16.1
2024-05-01 12:00:10,Alice,20.1
"""


@functools.cache
def _events_file():
    folder = tempfile.mkdtemp(prefix="mode-cases-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    Path(folder, "events.csv").write_text(EVENTS)
    return folder


def events(t_env):
    schema = Schema.new_builder().column("ts", DataTypes.TIMESTAMP(3))
    schema = schema.column("name", DataTypes.STRING()).column("price", DataTypes.DOUBLE())
    schema = schema.watermark("ts", "ts - INTERVAL '1' SECOND")
    builder = TableDescriptor.for_connector("filesystem").schema(schema.build())
    return t_env.from_descriptor(builder.option("path", _events_file()).format("csv").build())


def _window(window, function):
    def run(t_env):
        table = events(t_env).window(window.on(col("ts")).alias("w"))
        grouped = table.group_by(col("name"), col("w"))
        return grouped.select(col("name"), function(), col("w").start, col("w").end)

    return run


def _mean_call():
    return udaf(Mean())(col("price"), 1)


def _pandas_call():
    return udaf(pandas_mean, result_type="DOUBLE", func_type="pandas")(col("price"))


_WINDOWS = {
    "tumbling": Tumble.over(lit(5).seconds),
    "sliding": Slide.over(lit(4).seconds).every(lit(2).seconds),
    "sessions": Session.with_gap(lit(2).seconds),
}
for _name, _each in _WINDOWS.items():
    CASES[_name] = Case(_window(_each, _mean_call), BOTH, False)
    CASES[f"{_name}_pandas"] = Case(_window(_each, _pandas_call), BOTH, False)


def _over(preceding, function):
    def run(t_env):
        window = Over.partition_by(col("name")).order_by(col("ts")).preceding(preceding)
        if preceding is not UNBOUNDED_RANGE:
            window = window.following(CURRENT_ROW)
        over = events(t_env).over_window(window.alias("w"))
        return over.select(col("name"), col("ts"), function().over(col("w")))

    return run


CASES["over_rows"] = Case(_over(row_interval(1), _mean_call), BOTH, True)
CASES["over_range"] = Case(_over(UNBOUNDED_RANGE, _mean_call), BOTH, False)
CASES["over_rows_pandas"] = Case(_over(row_interval(1), _pandas_call), BOTH, False)


@case()
def to_pandas(t_env):
    frame = shouted(t_env).to_pandas()
    return [[str(each) for each in frame.dtypes], *map(repr, frame.itertuples(index=False))]


@case()
def from_pandas(t_env):
    import pandas

    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None], "c": pandas.to_datetime([0, 1])})
    table = t_env.from_pandas(frame, splits_num=2)
    return table.select(udf(lambda a, b: f"{a}{b}", result_type="STRING")(col("a"), col("b")))


@case()
def from_spark_and_back(t_env):
    frame = t_env.from_spark(t_env._context.session.range(4)).select(
        SHOUT(col("id").cast(DataTypes.STRING()))
    )
    return [repr(row) for row in frame.to_spark().collect()]


# Queries with functions, in SQL


def _catalog(t_env):
    t_env.create_temporary_view("orders", orders(t_env))
    t_env.create_temporary_view("people", names(t_env))
    t_env.create_temporary_view("events", events(t_env))
    t_env.create_temporary_system_function("shout", SHOUT)
    t_env.create_temporary_function("words", udtf(Words(), result_types=["STRING", "INT"]))
    t_env.create_temporary_function("mean", udaf(Mean()))
    t_env.create_temporary_function(
        "pandas_mean", udaf(pandas_mean, result_type="DOUBLE", func_type="pandas")
    )
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW loud AS SELECT id, shout(name) AS name, price FROM orders"
    )
    return t_env


_EVENTS = "TABLE({}(TABLE events, DESCRIPTOR(ts), {}))"
#: Query, where it runs, and whether in `make test`.
QUERIES = {
    "sql_scalar": ("SELECT id, shout(item) || '!' FROM orders WHERE shout(name) <> 'BOB'", BOTH),
    "sql_group": (
        "SELECT name, COUNT(*), mean(price, id) FROM loud GROUP BY name HAVING COUNT(*) > 1",
        BOTH,
    ),
    "sql_distinct": ("SELECT DISTINCT shout(item) FROM orders", BOTH),
    "sql_aggregates_of_distinct": ("SELECT COUNT(DISTINCT shout(item)) FROM orders", BOTH),
    "sql_lateral": (
        "SELECT id, w, n FROM orders LEFT JOIN LATERAL TABLE(words(item, 2)) AS t (w, n) ON TRUE",
        BOTH,
    ),
    "sql_inner_lateral": (
        "SELECT id, w FROM orders, LATERAL TABLE(words(name, CAST(id AS INT))) AS t (w, n)"
        " WHERE n = 1",
        BOTH,
    ),
    "sql_join": (
        "SELECT l.id, p.age FROM loud l JOIN people p ON l.name = shout(p.who) AND p.age > l.id",
        BOTH,
    ),
    "sql_semi_join": ("SELECT id FROM loud WHERE name IN (SELECT shout(who) FROM people)", BOTH),
    "sql_anti_join": (
        "SELECT id FROM loud l WHERE NOT EXISTS (SELECT * FROM people WHERE shout(who) = l.name)",
        ("batch",),
    ),
    "sql_top_n": (
        "SELECT id, name, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY name"
        " ORDER BY price DESC, id) AS n FROM loud) WHERE n <= 2",
        ("batch",),
    ),
    "sql_over": (
        "SELECT name, mean(price, 1) OVER (PARTITION BY name ORDER BY ts"
        " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM events",
        BOTH,
    ),
    "sql_tumble": (
        "SELECT window_start, mean(price, 1), COUNT(*) FROM "
        + _EVENTS.format("TUMBLE", "INTERVAL '5' SECOND")
        + " GROUP BY window_start, window_end",
        BOTH,
    ),
    "sql_hop_pandas": (
        "SELECT shout(name), window_end, pandas_mean(price) FROM "
        + _EVENTS.format("HOP", "INTERVAL '2' SECOND, INTERVAL '4' SECOND")
        + " GROUP BY shout(name), window_start, window_end",
        BOTH,
    ),
    "sql_union": (
        "SELECT name FROM loud UNION ALL SELECT shout(who) FROM people UNION ALL VALUES ('x')",
        BOTH,
    ),
    "sql_except": ("SELECT name FROM loud EXCEPT SELECT shout(who) FROM people", ("batch",)),
    "sql_common_table": (
        "WITH l AS (SELECT name, mean(price, 1) AS m FROM loud GROUP BY name)"
        " SELECT a.name, b.m FROM l a JOIN l b ON a.name = b.name WHERE a.m > 2",
        BOTH,
    ),
    "sql_value_of_a_query": (
        "SELECT id, (SELECT MAX(shout(who)) FROM people) FROM orders WHERE id < 3",
        ("batch",),
    ),
    "sql_json": (
        "SELECT JSON_VALUE(j, '$.a' RETURNING INT), shout(JSON_QUERY(j, '$.b'))"
        """ FROM (VALUES ('{"a": 7, "b": [1, 2]}'), ('{}'), ('no')) AS t (j)""",
        BOTH,
    ),
    "sql_order": ("SELECT shout(name), id FROM orders ORDER BY shout(name), id DESC", ("batch",)),
    "sql_error": ("SELECT 1 / (id - id), shout(name) FROM orders", BOTH),
    "sql_missing_function": ("SELECT shouted(name) FROM orders", BOTH),
    "sql_wrong_argument": ("SELECT shout(id) FROM orders", BOTH),
}
_SQL_SLICE = {"sql_group", "sql_lateral", "sql_over"}


def _query(text):
    return lambda t_env: _catalog(t_env).sql_query(text)


for _name, (_text, _environments) in QUERIES.items():
    CASES[_name] = Case(_query(_text), _environments, _name in _SQL_SLICE)


@case()
def function_of_a_module(t_env):
    """SQL's CREATE FUNCTION imports the class where it is declared."""
    t_env.execute_sql("CREATE TEMPORARY FUNCTION loud AS 'mode_cases.SHOUT' LANGUAGE PYTHON")
    return t_env.sql_query("SELECT loud('a')")


# Insertions

ROWS = {"id": DataTypes.BIGINT(), "name": DataTypes.STRING()}


def sink(connector, columns=ROWS, **options):
    schema = Schema.new_builder()
    for name, data_type in columns.items():
        schema.column(name, data_type)
    builder = TableDescriptor.for_connector(connector).schema(schema.build())
    for key, value in options.items():
        builder.option(key.replace("_", "-"), str(value))
    return builder.build()


def _printed(run):
    """What is printed meanwhile."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        run()
    return text.getvalue().splitlines()


@contextlib.contextmanager
def _directory():
    with tempfile.TemporaryDirectory(prefix="mode-cases-") as path:
        yield Path(path)


def lines_of(folder):
    """All lines of the files that a table has written."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    files = [path for path in files if not re.search(r"/[._]", f"/{path.relative_to(folder)}")]
    return sorted(line for path in files for line in path.read_text().splitlines())


@case(in_slice=True)
def printed_rows(t_env):
    table = shouted(t_env).select(col("id"), col("name"))
    return _printed(lambda: table.execute_insert(sink("print")).wait())


@case()
def printed_changes(t_env):
    columns = {"name": DataTypes.STRING(), "m": DataTypes.DOUBLE()}
    table = shouted(t_env).group_by(col("name"))
    table = table.select(col("name"), udaf(Mean())(col("price"), 1))
    return _printed(lambda: table.execute_insert(sink("print", columns)).wait())


@case()
def written_files(t_env):
    with _directory() as folder:
        t_env.create_temporary_table("target", sink("filesystem", path=folder, format="json"))
        _catalog(t_env).execute_sql("INSERT INTO target SELECT id, name FROM loud").wait()
        t_env.execute_sql("INSERT INTO target VALUES (9, shout('nine'))").wait()
        return lines_of(folder)


@case()
def written_and_read(t_env):
    with _directory() as folder:
        t_env.create_temporary_table("target", sink("filesystem", path=folder, format="parquet"))
        _catalog(t_env).execute_sql("INSERT INTO target SELECT id, name FROM loud").wait()
        rows = t_env.from_path("target").select(SHOUT(col("name")), col("id")).execute().collect()
        return sorted(shown(row) for row in rows)


@case()
def swallowed_rows(t_env):
    result = shouted(t_env).select(col("id"), col("name")).execute_insert(sink("blackhole"))
    with result.collect() as rows:
        return [shown(row) for row in rows]


@case()
def failing_insertion(t_env):
    fails = udf(_fails, result_type="STRING")
    table = orders(t_env).filter(col("id") == 3).select(col("id"), fails(col("id")))
    table.execute_insert(sink("blackhole")).wait()
    return ["no error"]


@case(in_slice=True)
def statement_set(t_env):
    _catalog(t_env)
    with _directory() as folder:
        t_env.create_temporary_table("files", sink("filesystem", path=folder, format="csv"))
        t_env.create_temporary_table("printed", sink("print", print_identifier="all"))
        statements = t_env.create_statement_set()
        statements.add_insert_sql("INSERT INTO files SELECT id, name FROM loud WHERE id > 3")
        statements.add_insert("printed", shouted(t_env).select(col("id"), col("name")))
        text = _printed(lambda: statements.execute().wait())
        return [*text, *lines_of(folder)]


@case()
def explained(t_env):
    return ["Physical Plan" in shouted(t_env).explain()]


@case()
def printed_result(t_env):
    return _printed(lambda: shouted(t_env).execute().print())


@case()
def bounded_data_of_a_python_connector(t_env):
    """A data source written in Python, read by a table."""
    t_env.create_temporary_table(
        "numbers",
        sink(
            "python",
            {"n": DataTypes.BIGINT(), "square": DataTypes.BIGINT()},
            **{"class": "numbers_source.Numbers", "source.end": "3"},
        ),
    )
    return t_env.from_path("numbers").select(SHOUT(col("n").cast(DataTypes.STRING())))


# Queries over unbounded rows


@dataclass(frozen=True)
class StreamCase:
    """A query over tables that get a batch of rows, and another one when it has been started anew.

    Parameters
    ----------
    query
        SQL over the tables, or a function of the environment.
    tables
        Which of `TABLES` it reads.
    ordered
        Whether the order of changes is the same in each run: not where two tables are read.
    """

    query: str | Callable[[Any], Any]
    tables: tuple[str, ...]
    ordered: bool = True


def at(seconds):
    return datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=seconds)


@dataclass(frozen=True)
class StreamTable:
    """An unbounded table: its columns, rows by batch, time attribute, and whether it changes."""

    columns: str
    batches: tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]
    watermark: tuple[str, int] | None = None
    proctime: str | None = None
    changing: bool = False


TABLES = {
    "visits": StreamTable(
        "k STRING; v BIGINT",
        (
            [("a", 1), ("b", 5), ("a", 3), ("b", None), ("a", 3)],
            [("a", 2), ("c", 7), ("b", 5), ("c", 1)],
        ),
        proctime="p",
    ),
    "people": StreamTable(
        "id STRING; name STRING",
        ([("a", "Anna"), ("d", "Dora")], [("b", "Bert"), ("a", "Ada")]),
    ),
    "clicks": StreamTable(
        "k STRING; v BIGINT; ts TIMESTAMP(3)",
        (
            [("a", 1, at(2)), ("a", 2, at(1)), ("b", 7, at(3)), ("a", 3, at(12)), ("b", 0, at(40))],
            [("a", 9, at(20)), ("a", 4, at(41)), ("b", 5, at(36)), ("b", 2, at(90))],
        ),
        watermark=("ts", 5),
    ),
    "changes": StreamTable(
        "k STRING; v BIGINT",
        (
            [("+I", "a", 1), ("+I", "b", 5), ("-U", "a", 1), ("+U", "a", 3)],
            [("-D", "b", 5), ("-U", "a", 3), ("+U", "a", 2), ("+I", "c", 7)],
        ),
        changing=True,
    ),
}

_TUMBLED = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
_OVER = "OVER (PARTITION BY k ORDER BY ts {})"


def _ranked(order, condition, table="visits", columns="k, v, n"):
    return (
        f"SELECT {columns} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order})"
        f" AS n FROM {table}) WHERE {condition}"
    )


def _flat_aggregate(t_env):
    call = udtaf(Greatest())(col("v").cast(DataTypes.DOUBLE())).alias("r", "x")
    return t_env.from_path("visits").group_by(col("k")).flat_aggregate(call).select(col("*"))


STREAMS = {
    "group": StreamCase("SELECT k, COUNT(*), SUM(v), AVG(v) FROM visits GROUP BY k", ("visits",)),
    "group_of_changes": StreamCase(
        "SELECT k, MIN(v), MAX(v), COUNT(DISTINCT v) FROM changes GROUP BY k", ("changes",)
    ),
    "group_of_group": StreamCase(
        "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM visits GROUP BY k) GROUP BY n",
        ("visits",),
    ),
    "group_of_all": StreamCase("SELECT MAX(v), LISTAGG(k) FROM visits", ("visits",)),
    "python_aggregate": StreamCase(
        "SELECT k, seen(shout(k)), mean(v, 1) FROM visits GROUP BY k", ("visits",)
    ),
    "python_aggregate_of_changes": StreamCase(
        "SELECT mean(v, 1), seen(k) FROM changes", ("changes",)
    ),
    "table_aggregate": StreamCase(_flat_aggregate, ("visits",)),
    "distinct": StreamCase("SELECT DISTINCT k FROM visits", ("visits",)),
    "join": StreamCase(
        "SELECT k, v, name FROM visits JOIN people ON k = id", ("visits", "people"), False
    ),
    "left_join": StreamCase(
        "SELECT k, s, name FROM (SELECT k, SUM(v) AS s FROM visits GROUP BY k)"
        " LEFT JOIN people ON k = id",
        ("visits", "people"),
        False,
    ),
    "full_join": StreamCase(
        "SELECT k, v, name FROM changes FULL JOIN people ON k = id AND v > 1",
        ("changes", "people"),
        False,
    ),
    "anti_join": StreamCase(
        "SELECT k, v FROM changes WHERE NOT EXISTS (SELECT * FROM people WHERE id = k)",
        ("changes", "people"),
        False,
    ),
    "except": StreamCase(
        "SELECT k FROM visits EXCEPT SELECT id FROM people", ("visits", "people"), False
    ),
    "top_n": StreamCase(_ranked("v DESC", "n <= 2"), ("visits",)),
    "top_n_of_changes": StreamCase(_ranked("v DESC", "n <= 2", "changes", "k, v"), ("changes",)),
    "first_row": StreamCase(_ranked("p", "n = 1", columns="k, v"), ("visits",)),
    "last_row": StreamCase(_ranked("p DESC", "n = 1", columns="k, v"), ("visits",)),
    "order": StreamCase("SELECT k, v FROM changes ORDER BY v DESC LIMIT 2", ("changes",)),
    "over_interval": StreamCase(
        "SELECT k, v, SUM(v) "
        + _OVER.format("RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW")
        + " FROM clicks",
        ("clicks",),
    ),
    "over_rows": StreamCase(
        "SELECT k, v, mean(v, 1) "
        + _OVER.format("ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")
        + " FROM clicks",
        ("clicks",),
    ),
    "over_pandas": StreamCase(
        "SELECT k, v, pandas_mean(v) "
        + _OVER.format("ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")
        + " FROM clicks",
        ("clicks",),
    ),
    "over_arrival": StreamCase(
        "SELECT k, v, COUNT(*) OVER (PARTITION BY k ORDER BY p) FROM visits", ("visits",)
    ),
    "window": StreamCase(
        f"SELECT k, window_start, SUM(v), COUNT(*) FROM {_TUMBLED}"
        " GROUP BY k, window_start, window_end",
        ("clicks",),
    ),
    "window_pandas": StreamCase(
        f"SELECT shout(k), pandas_mean(v) FROM {_TUMBLED} GROUP BY k, window_start, window_end",
        ("clicks",),
    ),
    "window_top_n": StreamCase(
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k"
        f" ORDER BY v DESC) AS n FROM {_TUMBLED}) WHERE n = 1",
        ("clicks",),
    ),
    "window_join": StreamCase(
        f"SELECT l.k, l.v, r.v FROM {_TUMBLED} l FULL JOIN (SELECT * FROM {_TUMBLED} WHERE v > 3) r"
        " ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.k = r.k",
        ("clicks",),
    ),
    "session_rows": StreamCase(
        "SELECT k, v, window_start, window_end FROM TABLE(SESSION(TABLE clicks PARTITION BY k,"
        " DESCRIPTOR(ts), INTERVAL '5' SECOND))",
        ("clicks",),
    ),
    "interval_join": StreamCase(
        "SELECT l.k, l.v, r.v FROM clicks l JOIN clicks r ON l.k = r.k AND r.ts BETWEEN l.ts AND"
        " l.ts + INTERVAL '10' SECOND",
        ("clicks",),
    ),
}


def register(t_env):
    """Register the functions that the queries call."""
    t_env.create_temporary_system_function("shout", SHOUT)
    t_env.create_temporary_function("mean", udaf(Mean()))
    t_env.create_temporary_function("seen", udaf(Seen()))
    t_env.create_temporary_function(
        "pandas_mean", udaf(pandas_mean, result_type="DOUBLE", func_type="pandas")
    )


def stream_query(name, t_env):
    query = STREAMS[name].query
    return t_env.sql_query(query) if isinstance(query, str) else query(t_env)


# A job that is stopped in one mode and goes on in the other

JOB = {
    "grouped": ("k STRING, n BIGINT, m DOUBLE", "SELECT k, COUNT(*), mean(v, 1) FROM t GROUP BY k"),
    "joined": (
        "k STRING, v BIGINT, w BIGINT",
        "SELECT l.k, l.v, r.v FROM t l JOIN t r ON l.k = r.k",
    ),
    "ranked": ("k STRING, v BIGINT, n BIGINT", _ranked("v DESC", "n <= 2", "t")),
    "around": (
        "k STRING, v BIGINT, s BIGINT",
        "SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM t",
    ),
}
#: What the table `t` of the job gets before each of its starts.
JOB_ROWS = (
    [("a", 1, 1), ("b", 5, 2), ("a", 3, 9)],
    [("a", 2, 12), ("c", 7, 13), ("b", 6, 40)],
    [("c", 8, 50), ("a", 0, 90)],
)


def start_job(t_env, source, checkpoints):
    """Start a query that groups, joins, ranks and looks around, and prints it all."""
    t_env.get_config().set("execution.checkpointing.dir", str(checkpoints))
    register(t_env)
    t_env.execute_sql(f"""
        CREATE TABLE t (k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'json',
              'source.monitor-interval' = '1 s')""")
    statements = t_env.create_statement_set()
    for name, (columns, query) in JOB.items():
        t_env.execute_sql(
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'print',"
            f" 'print-identifier' = '{name}')"
        )
        statements.add_insert_sql(f"INSERT INTO {name} {query}")
    return statements.execute()


def add_rows(folder, number):
    """Write the rows of a start of the job."""
    lines = (
        json.dumps({"k": k, "v": v, "ts": str(at(seconds))}) for k, v, seconds in JOB_ROWS[number]
    )
    hidden = folder / f".{number}"
    hidden.write_text("\n".join(lines))
    hidden.rename(folder / f"{number}.json")


# Over Connect: where functions run, and the unbounded rows that Spark itself writes

#: By name: a program, and the rows that it returns, or what its error says.
CONNECT = {}


#: The program that runs a function.
PLACES = {"thread": "java", "process": "python"}


def _where(x):
    return Path("/proc/self/exe").resolve().name.rstrip("0123456789.t")


def place(t_env):
    """Where functions run."""
    rows = orders(t_env).select(udf(_where, result_type="STRING")(col("id"))).execute().collect()
    return sorted({row[0] for row in rows})


@contextlib.contextmanager
def _job(t_env):
    """A directory with the table `t` in it, and one for checkpoints."""
    register(t_env)
    with _directory() as folder:
        source = folder / "source"
        source.mkdir()
        add_rows(source, 0)
        t_env.get_config().set("execution.checkpointing.dir", str(folder / "checkpoints"))
        t_env.execute_sql(f"""
            CREATE TABLE t (k STRING, v BIGINT, ts TIMESTAMP(3), p AS PROCTIME(),
                WATERMARK FOR ts AS ts)
            WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'json',
                  'source.monitor-interval' = '1 s')""")
        try:
            yield folder
        finally:
            for query in t_env._context.session.streams.active:
                query.stop()


def _written(columns, query):
    """A program that writes a query's rows into files, and starts anew when there are more."""

    def run(t_env):
        with _job(t_env) as folder:
            t_env.execute_sql(
                f"CREATE TABLE target ({columns}) WITH ('connector' = 'filesystem',"
                f" 'path' = '{folder / 'target'}', 'format' = 'csv')"
            )
            for number in (1, 2):
                result = t_env.execute_sql(f"INSERT INTO target {query}")
                [running] = t_env._context.session.streams.active
                running.processAllAvailable()
                result.get_job_client().cancel().result()
                add_rows(folder / "source", number)
            return lines_of(folder / "target")

    return run


CONNECT["unbounded_rows"] = (
    _written("k STRING, v BIGINT", "SELECT shout(k), v FROM t WHERE v > 1"),
    ["A,2", "A,3", "B,5", "B,6", "C,7"],
)
CONNECT["unbounded_windows"] = (
    _written(
        "k STRING, m DOUBLE",
        "SELECT k, pandas_mean(v) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
        " GROUP BY k, window_start, window_end",
    ),
    ["a,2.0", "a,2.0", "b,5.0", "c,7.0"],
)
CONNECT["unbounded_over"] = (
    _written("k STRING, s BIGINT", "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM t"),
    ["a,1", "a,4", "a,6", "b,11", "b,5", "c,7"],
)


def _refused(statement):
    def run(t_env):
        with _job(t_env):
            t_env.execute_sql(
                "CREATE TABLE printed (k STRING, n BIGINT) WITH ('connector' = 'print')"
            )
            t_env.execute_sql(statement).wait()
            return ["no error"]

    return run


_BY_BATCH = "Over Spark Connect unbounded rows can only be written into tables that Spark writes"
CONNECT["unbounded_print"] = (_refused("INSERT INTO printed SELECT k, v FROM t"), _BY_BATCH)
CONNECT["unbounded_changes"] = (
    _refused("INSERT INTO printed SELECT k, COUNT(*) FROM t GROUP BY k"),
    _BY_BATCH,
)
CONNECT["unbounded_result"] = (_refused("SELECT k, v FROM t"), _BY_BATCH)
CONNECT["windows_of_the_clock"] = (
    _refused(
        "SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(p), INTERVAL '1' SECOND))"
        " GROUP BY k, window_start, window_end"
    ),
    "over Spark Connect",
)
