"""The page of the built-in functions, made from their table."""

from __future__ import annotations

from expression_differences import DIFFERENCES, cases_of
from pyflow.table import expressions
from pyflow.table.expression import Expression, name_of_built_in
from pyflow.table.functions import builtins as functions
from pyflow.table.functions.builtins.definition import BuiltIn, table
from pyflow.table.functions.names import UNSUPPORTED

HEAD = """# Built-in functions of the Table API

Expressions have PyFlink's operators, methods and functions, and should return Flink's results.
This page is generated from the table of functions in `pyflow/table/functions/builtins`; a test
checks that. The last column lists the differences from Flink.

Tests compare the results with PyFlink's, for unusual values and for random expressions of all
types. The end of the page lists the values that differ.

Families of arguments: `int` and `bigint` are integers, `numeric` any numbers, `?` marks an optional
argument, `...` one that may be repeated, and `symbol` a unit or a clause, such as
`TimeIntervalUnit.DAY`. Integers wrap around on overflow, DECIMALs become null, and a cast that is
impossible fails the query; `try_cast` returns null.

`call()` finds built-in functions by the names in the second column, as Flink does, in any case;
their names in SQL are for SQL and `call_sql()`. A temporary system function that is registered
under a name of the second column replaces the built-in one, in `call()`, operators and methods.
Other functions of the program do not. In SQL it replaces calls by its name, but not operators. It
cannot take units, clauses and types (`symbol`), and `cast`, `try_cast`, `as`, `asc`, `desc`,
`flatten` and `range_` cannot be replaced.

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
