"""The page of the built-in functions, made from their table."""

from __future__ import annotations

from pyflow.table import expressions
from pyflow.table.expression import Expression, name_of_built_in
from pyflow.table.planner import functions
from pyflow.table.planner.functions.definition import BuiltIn, table

HEAD = """# Built-in functions of the Table API

Expressions have PyFlink's operators, methods and functions, and are meant to have Flink's results.
This page is made from the table of functions in `pyflow/table/planner/functions`; a test keeps it
so. What a function does not do as Flink does it stands in the last column.

Numbers, conditions, texts and aggregates are compared with PyFlink's answers by tests, over unusual
values, too. For dates, times and JSON that work is not finished. Known so far:

- Characters beyond U+FFFF count as one, in Flink as two for `lpad`, `rpad` and `overlay`.
- Before 1970 Flink rounds and extracts parts of times towards 1970, and it cuts intervals to
  milliseconds; here they are exact.
- A text with letters, or with less than the pattern asks for, is null as a date or time; Flink
  reads some of them.
- `json_exists` with `*`, `..` or a slash in its path is true for any JSON in Flink.

Families of arguments: `int` and `bigint` are whole numbers, `numeric` any numbers, `?` is an
argument that may be missing, `...` one that may be there any number of times, and `symbol` a unit
or a clause, as `TimeIntervalUnit.DAY`. Whole numbers wrap around when they are too great, DECIMALs
become null, and a cast that is impossible fails the query; `try_cast` gives null.

Not carried, with an error that says so: functions of bitmaps, structured objects (`object_of`,
`object_update`), `descriptor`, and named arguments.

| method or function | SQL | arguments | result | difference to Flink |
| --- | --- | --- | --- | --- |
"""


def functions_page() -> str:
    """Return the page."""
    assert functions
    callers: dict[str, list[str]] = {}
    for name in sorted(vars(Expression)):
        _add(callers, name, f"`.{name}`")
    for name in sorted(vars(expressions)):
        if getattr(getattr(expressions, name), "__module__", "") == expressions.__name__:
            _add(callers, name, f"`{name}()`")
    return HEAD + "".join(_row(entry, callers.get(name, [])) for name, entry in table().items())


def _add(callers: dict[str, list[str]], member: str, shown: str) -> None:
    name = None if member.startswith("_") else name_of_built_in(member)
    if name is not None:
        callers.setdefault(name, []).append(shown)


def _row(entry: BuiltIn, callers: list[str]) -> str:
    cells = [
        ", ".join(callers) or f"`{entry.name}`",
        ", ".join(f"`{name}`" for name in entry.sql_names),
        ", ".join(map(str, entry.parameters)),
        entry.summary,
        entry.difference,
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
