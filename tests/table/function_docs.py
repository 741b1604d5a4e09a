"""The page of the built-in functions, made from their table."""

from __future__ import annotations

from expression_differences import DIFFERENCES, cases_of
from pyflow.table import expressions
from pyflow.table.expression import Expression, name_of_built_in
from pyflow.table.functions import builtins as functions
from pyflow.table.functions.builtins.definition import BuiltIn, table
from pyflow.table.functions.names import UNSUPPORTED

HEAD = """# Built-in functions of the Table API

Expressions have PyFlink's operators, methods and functions, and are meant to have Flink's results.
This page is made from the table of functions in `pyflow/table/functions/builtins`; a test keeps it
so. What a function does not do as Flink does it stands in the last column.

Tests compare the results with PyFlink's answers, over unusual values and over random expressions
of all types. The values that stay different stand at the end of the page.

Families of arguments: `int` and `bigint` are whole numbers, `numeric` any numbers, `?` is an
argument that may be missing, `...` one that may be there any number of times, and `symbol` a unit
or a clause, as `TimeIntervalUnit.DAY`. Whole numbers wrap around when they are too great, DECIMALs
become null, and a cast that is impossible fails the query; `try_cast` gives null.

`call()` knows built-in functions by the names in the second column, as Flink does, in any case;
their names in SQL are for SQL and `call_sql()`. A temporary system function that is registered by
a name of the second column is called in the place of the built-in one, by `call()`, and where that
is written as an operator or a method. Other functions of the program are not. In SQL it is called
where a call has its name, but not for an operator. Units, clauses and types (`symbol`) cannot be
given to it, and `cast`, `try_cast`, `as`, `asc`, `desc`, `flatten` and `range_` stay what they are.

Unsupported, with an error that says so: structured objects (`object_of`, `object_update`), named
arguments, and by `call()`:

{unsupported}

| method or function | name | SQL | arguments | result | difference to Flink |
| --- | --- | --- | --- | --- | --- |
"""

TAIL = """
## Values that differ from Flink's

What Flink refuses may be allowed here: an interval made of a column (`ts + n.days`), the comparison
of a DATE with a TIMESTAMP. PyFlink's `collect()` cuts timestamps to milliseconds and moves some of
those before 1970; here they are what the query gives. Else these differ, with examples:

"""
_EXAMPLES = 3


def functions_page() -> str:
    """Return the page."""
    assert functions
    callers: dict[str, list[str]] = {}
    for name in sorted(vars(Expression)):
        _add(callers, name, f"`.{name}`")
    for name in sorted(vars(expressions)):
        if getattr(getattr(expressions, name), "__module__", "") == expressions.__name__:
            _add(callers, name, f"`{name}()`")
    rows = "".join(_row(entry, callers.get(name, [])) for name, entry in table().items())
    return (
        HEAD.format(unsupported=_unsupported())
        + rows
        + TAIL
        + "".join(map(_difference, dict.fromkeys(DIFFERENCES.values())))
    )


def _unsupported() -> str:
    names: dict[str, list[str]] = {}
    for name, reason in UNSUPPORTED.items():
        names.setdefault(reason, []).append(f"`{name}`")
    return "\n".join(f"- {', '.join(each)}: {reason}." for reason, each in names.items())


def _difference(reason: str) -> str:
    cases = ", ".join(f"`{case}`" for case in cases_of(reason)[:_EXAMPLES])
    return f"- {reason[0].upper()}{reason[1:]}: {cases}.\n"


def _add(callers: dict[str, list[str]], member: str, shown: str) -> None:
    name = None if member.startswith("_") else name_of_built_in(member)
    if name is not None:
        callers.setdefault(name, []).append(shown)


def _row(entry: BuiltIn, callers: list[str]) -> str:
    cells = [
        ", ".join(callers),
        f"`{entry.name}`",
        ", ".join(f"`{name}`" for name in entry.sql_names),
        ", ".join(map(str, entry.parameters)),
        entry.summary,
        entry.difference,
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
