"""The cases: which function runs over which rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from benchmarks import functions, kinds


@dataclass(frozen=True, kw_only=True)
class Case:
    """Something to be done with one kind of row.

    Attributes
    ----------
    name : str
        Key in the results and on the command line.
    title : str
        What a reader of the tables sees.
    columns : dict of str to str
        The input, each column a SQL expression over the row number ``id``.
    rows : int
        Rows of one measurement, such that the faster modes take long enough to measure.
    row_bytes : int
        About how large one row is in memory.
    """

    name: str
    title: str
    columns: dict[str, str]
    rows: int
    row_bytes: int


@dataclass(frozen=True, kw_only=True)
class FunctionCase(Case):
    """A plain function, called for every row.

    Attributes
    ----------
    function : callable
        The Python function; it gets the columns.
    returns : str
        Its return type as DDL.
    builtin : str, optional
        A SQL expression over the columns that computes the same without Python.
    passed : bool
        Whether it is measured, too, what passing its one column on costs.
    one_row : bool
        Whether it is measured with one row per call, too.
    """

    function: Callable[..., Any]
    returns: str
    builtin: str | None = None
    passed: bool = False
    one_row: bool = False

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that the case can be measured in."""
        builtin = () if self.builtin is None else ("builtin",)
        passed = ("passed",) if self.passed else ()
        one_row = ("shared-one", "isolated-one") if self.one_row else ()
        return (*builtin, *passed, "floor", "pickled", "arrow", "shared", "isolated", *one_row)


@dataclass(frozen=True, kw_only=True)
class KindCase(Case):
    """A function of another kind.

    Attributes
    ----------
    program : callable
        From the input to what is computed.
    grouped_by : str, optional
        The column by which the input is distributed and sorted before it is measured.
    modes : tuple of str
        The modes that the case can be measured in.
    """

    program: Callable[[DataFrame], DataFrame]
    grouped_by: str | None = None
    modes: tuple[str, ...] = ("process", "thread", "auto")


def _text(length: int) -> str:
    """Return SQL for a text of mixed letters that starts with the row number."""
    return f"rpad(concat(id, ' '), {length}, 'Thread Mode And Process Mode ')"


def _json(title: str, size: int, rows: int) -> FunctionCase:
    document = f"""concat('{{"a": "', {_text(size - len('{"a": ""}'))}, '"}}')"""
    return FunctionCase(
        name=f"json-{title.replace(' ', '')}",
        title=f"JSON load, lower, dump, {title}",
        function=functions.lower_json,
        returns="string",
        columns={"document": document},
        rows=rows,
        row_bytes=size,
        passed=True,
    )


_RECORD_FIELDS = [
    ("id", "bigint", "id"),
    ("quantity", "int", "cast(id % 1000 as int)"),
    ("price", "double", "id * 0.25D"),
    ("weight", "double", "id / 7D"),
    ("name", "string", "concat('item ', id)"),
    ("colour", "string", "elt(1 + cast(id % 3 as int), 'red', 'green', 'blue')"),
    ("place", "string", "concat('shelf ', id % 97)"),
    ("sold", "boolean", "id % 2 = 0"),
    ("day", "date", "date_add(DATE'2024-01-01', cast(id % 365 as int))"),
    ("parent", "bigint", "id * 3"),
]

CASES = (
    FunctionCase(
        name="long",
        title="x + 1, long",
        function=functions.increment,
        returns="bigint",
        columns={"x": "id"},
        rows=8_000_000,
        row_bytes=8,
        builtin="x + 1",
        one_row=True,
    ),
    FunctionCase(
        name="upper",
        title="str.upper, 14 characters",
        function=functions.upper,
        returns="string",
        columns={"text": "concat('name ', lpad(id, 9, '0'))"},
        rows=5_000_000,
        row_bytes=14,
        builtin="upper(text)",
        one_row=True,
    ),
    FunctionCase(
        name="two-arguments",
        title="x + y, two longs",
        function=functions.add,
        returns="bigint",
        columns={"x": "id", "y": "id * 3"},
        rows=5_000_000,
        row_bytes=16,
        builtin="x + y",
    ),
    FunctionCase(
        name="struct",
        title="struct of ten fields",
        function=functions.increment_first,
        returns="struct<"
        + ", ".join(f"{name}: {type_}" for name, type_, _ in _RECORD_FIELDS)
        + ">",
        columns={
            "record": "named_struct("
            + ", ".join(f"'{name}', {value}" for name, _, value in _RECORD_FIELDS)
            + ")"
        },
        rows=200_000,
        row_bytes=120,
        builtin="named_struct('id', record.id + 1, "
        + ", ".join(f"'{name}', record.{name}" for name, _, _ in _RECORD_FIELDS[1:])
        + ")",
    ),
    FunctionCase(
        name="decimal",
        title="decimal(18, 2)",
        function=functions.increment_decimal,
        returns="decimal(18, 2)",
        columns={"amount": "cast(id * 0.01BD as decimal(18, 2))"},
        rows=800_000,
        row_bytes=8,
        builtin="cast(amount + 1.00BD as decimal(18, 2))",
    ),
    FunctionCase(
        name="timestamp",
        title="timestamp + one hour",
        function=functions.next_hour,
        returns="timestamp",
        columns={"moment": "timestamp_micros(1700000000000000 + id * 1000003)"},
        rows=800_000,
        row_bytes=8,
        builtin="moment + interval 1 hour",
    ),
    FunctionCase(
        name="array",
        title="sum of 100 doubles",
        function=functions.total,
        returns="double",
        columns={"numbers": "transform(sequence(0, 99), i -> id + i * 0.5D)"},
        rows=100_000,
        row_bytes=800,
        builtin="aggregate(numbers, 0D, (sum, number) -> sum + number)",
    ),
    _json("100 B", 100, 500_000),
    _json("1 kB", 1_000, 150_000),
    _json("10 kB", 10_000, 40_000),
    _json("100 kB", 100_000, 3_000),
    FunctionCase(
        name="binary-1MB",
        title="len of 1 MB binary",
        function=functions.length,
        returns="bigint",
        columns={"data": f"encode({_text(1 << 20)}, 'utf-8')"},
        rows=600,
        row_bytes=1 << 20,
        builtin="cast(length(data) as bigint)",
    ),
)

_HUNDRED = [f"c{i}" for i in range(100)]
_LINE = "concat_ws(' ', 'the', 'quick', id, 'brown', 'fox', 'jumps', 'over', 'the', 'lazy', 'dog')"

KINDS = (
    KindCase(
        name="pandas-long",
        title="pandas_udf, x + 1, long",
        program=kinds.pandas_increment,
        columns={"x": "id"},
        rows=5_000_000,
        row_bytes=8,
    ),
    KindCase(
        name="pandas-string",
        title="pandas_udf, text + '1', 14 characters",
        program=kinds.pandas_append,
        columns={"text": "concat('name ', lpad(id, 9, '0'))"},
        rows=1_000_000,
        row_bytes=14,
    ),
    KindCase(
        name="arrow-sum",
        title="arrow_udf, sum of ten longs",
        program=kinds.arrow_sum,
        columns={name: f"id + {i}" for i, name in enumerate(_HUNDRED[:10])},
        rows=1_500_000,
        row_bytes=80,
    ),
    KindCase(
        name="arrow-strings",
        title="arrow_udf, strings of 1 kB passed on",
        program=kinds.arrow_same,
        columns={"text": _text(1_000)},
        rows=150_000,
        row_bytes=1_000,
    ),
    KindCase(
        name="map-in-arrow",
        title="mapInArrow, 100 longs passed on",
        program=kinds.map_same,
        columns={name: f"id + {i}" for i, name in enumerate(_HUNDRED)},
        rows=200_000,
        row_bytes=800,
    ),
    KindCase(
        name="udtf",
        title="udtf, words of a line",
        program=kinds.words,
        columns={"line": _LINE},
        rows=200_000,
        row_bytes=50,
        modes=("process", "shared", "isolated"),
    ),
    KindCase(
        name="udtf-arrow",
        title="udtf, useArrow, words of a line",
        program=kinds.words_with_arrow,
        columns={"line": _LINE},
        rows=20_000,
        row_bytes=50,
    ),
    KindCase(
        name="apply-in-pandas",
        title="applyInPandas, groups of 20 rows",
        program=kinds.normalised,
        columns={"k": "id div 20", "x": "id % 1000 / 7D"},
        rows=100_000,
        row_bytes=16,
        grouped_by="k",
    ),
    KindCase(
        name="aggregate",
        title="pandas_udf, mean of groups of 20 rows",
        program=kinds.means,
        columns={"k": "id div 20", "x": "id % 1000 / 7D"},
        rows=200_000,
        row_bytes=16,
        grouped_by="k",
    ),
)

# Measured on a free-threaded Python only, see free_threaded.py.
FREE_THREADED = (
    KindCase(
        name="pandas-numpy",
        title="pandas_udf, 1 ms of numpy per batch",
        program=kinds.pandas_numpy,
        columns={"x": "id / 7D"},
        rows=4_000_000,
        row_bytes=8,
    ),
    KindCase(
        name="arrow-numpy",
        title="arrow_udf, 1 ms of numpy per batch",
        program=kinds.arrow_numpy,
        columns={"x": "id / 7D"},
        rows=4_000_000,
        row_bytes=8,
    ),
)

BY_NAME: dict[str, FunctionCase | KindCase] = {case.name: case for case in (*CASES, *KINDS)}
