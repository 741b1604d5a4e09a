"""The cases: which function runs over which rows, and the built-in expression that equals it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import functions


@dataclass(frozen=True)
class Case:
    """One function over one kind of row.

    Attributes
    ----------
    name : str
        Key in the results and on the command line.
    title : str
        What a reader of the tables sees.
    function : callable
        The Python function.
    returns : str
        Its return type as DDL.
    columns : dict of str to str
        The arguments, each a SQL expression over the row number ``id``.
    rows : int
        Rows of one measurement, such that the faster modes take long enough to measure.
    row_bytes : int
        About how large one row is in memory.
    builtin : str, optional
        A SQL expression over the columns that computes the same without Python.
    """

    name: str
    title: str
    function: Callable[..., Any]
    returns: str
    columns: dict[str, str]
    rows: int
    row_bytes: int
    builtin: str | None = None


def _text(length: int) -> str:
    """Return SQL for a text of mixed letters that starts with the row number."""
    return f"rpad(concat(id, ' '), {length}, 'Thread Mode And Process Mode ')"


def _json(title: str, size: int, rows: int) -> Case:
    document = f"""concat('{{"a": "', {_text(size - len('{"a": ""}'))}, '"}}')"""
    return Case(
        name=f"json-{title.replace(' ', '')}",
        title=f"JSON load, lower, dump, {title}",
        function=functions.lower_json,
        returns="string",
        columns={"document": document},
        rows=rows,
        row_bytes=size,
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
    Case(
        name="long",
        title="x + 1, long",
        function=functions.increment,
        returns="bigint",
        columns={"x": "id"},
        rows=8_000_000,
        row_bytes=8,
        builtin="x + 1",
    ),
    Case(
        name="upper",
        title="str.upper, 14 characters",
        function=functions.upper,
        returns="string",
        columns={"text": "concat('name ', lpad(id, 9, '0'))"},
        rows=5_000_000,
        row_bytes=14,
        builtin="upper(text)",
    ),
    Case(
        name="two-arguments",
        title="x + y, two longs",
        function=functions.add,
        returns="bigint",
        columns={"x": "id", "y": "id * 3"},
        rows=5_000_000,
        row_bytes=16,
        builtin="x + y",
    ),
    Case(
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
    Case(
        name="decimal",
        title="decimal(18, 2)",
        function=functions.increment_decimal,
        returns="decimal(18, 2)",
        columns={"amount": "cast(id * 0.01BD as decimal(18, 2))"},
        rows=800_000,
        row_bytes=8,
        builtin="cast(amount + 1.00BD as decimal(18, 2))",
    ),
    Case(
        name="timestamp",
        title="timestamp + one hour",
        function=functions.next_hour,
        returns="timestamp",
        columns={"moment": "timestamp_micros(1700000000000000 + id * 1000003)"},
        rows=800_000,
        row_bytes=8,
        builtin="moment + interval 1 hour",
    ),
    Case(
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
    Case(
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

BY_NAME = {case.name: case for case in CASES}
