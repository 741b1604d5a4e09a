"""Which function a call means where its expression comes into a table.

As in Flink, a temporary system function is meant before the built-in one that is defined under its
name, also where that is written as an operator or a method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pyflow.table.columns.nodes import (
    Alias,
    Call,
    Columns,
    Distinct,
    Field,
    Flatten,
    FunctionCall,
    Literal,
    Node,
    Ordering,
    Over,
    WindowProperty,
    transformed,
)
from pyflow.table.functions.builtins import built_in_named, built_in_of_sql
from pyflow.table.functions.builtins.definition import table
from pyflow.util.exceptions import TableException


class RegisteredFunctions(Protocol):
    """The functions of a table environment by their names."""

    def function(self, name: str) -> Any:
        """Return the function registered under a name; None if there is none."""

    def system_function(self, name: str) -> Any:
        """Return the temporary system function of a name; None if there is none."""


def with_functions(node: Node, context: RegisteredFunctions) -> Node:
    """Return an expression in which every call has the function that is meant.

    Raises
    ------
    TableException
        If a name means none.
    """

    def change(part: Node) -> Node | None:
        if isinstance(part, Call):
            own = context.system_function(part.function.name)
            return None if own is None else FunctionCall(own, arguments_of(part))
        if isinstance(part, FunctionCall) and isinstance(part.function, str):
            return _named(part.function, arguments_of(part), context)
        return None

    def arguments_of(call: Call | FunctionCall) -> tuple[Node, ...]:
        return tuple(transformed(argument, change) for argument in call.arguments)

    return transformed(node, change)


def _named(name: str, arguments: tuple[Node, ...], context: RegisteredFunctions) -> Node:
    own = context.function(name)
    if own is not None:
        return FunctionCall(own, arguments)
    built_in = built_in_named(name)
    if built_in is not None:
        return Call(built_in, arguments)
    key = name.upper()
    if key in _FORMS_IN_ANY_CASE:
        try:
            return _FORMS_IN_ANY_CASE[key](*arguments)
        except (TypeError, ValueError):
            given = ", ".join(map(str, arguments))
            raise TableException(f"{name}({given}): it takes other arguments") from None
    if key in UNSUPPORTED:
        raise TableException(f"call({name!r}) is not supported: {UNSUPPORTED[key]}")
    in_sql = built_in_of_sql(name)
    hint = (
        "create_temporary_system_function registers one"
        if in_sql is None
        else f"that is its name in SQL, in the Table API it is {in_sql.name!r}"
    )
    raise TableException(f"there is no function named {name!r}; {hint}")


def built_in_names() -> set[str]:
    """Return the names of the built-in functions that can be called."""
    return {*table(), *_FORMS}


def is_built_in(name: str) -> bool:
    """Return whether Flink has a built-in function that is defined under a name."""
    key = name.upper()
    return built_in_named(name) is not None or key in _FORMS_IN_ANY_CASE or key in UNSUPPORTED


def _text(node: Node) -> str:
    if isinstance(node, Literal) and isinstance(node.value, str):
        return node.value
    raise ValueError(node)


def _of_window(kind: str) -> Callable[[Node], Node]:
    def form(window: Node) -> Node:
        if not isinstance(window, Field):
            raise ValueError(window)
        return WindowProperty(kind, window.name)

    return form


def _columns(without: bool) -> Callable[..., Node]:
    return lambda head, *tails: Columns((head, *tails), without)


def _over(aggregate: Node, window: Node) -> Node:
    return Over(aggregate, window.name if isinstance(window, Field) else _text(window))


# Functions that are nodes of their own.
_FORMS: dict[str, Callable[..., Node]] = {
    "as": lambda child, name, *names: Alias(child, tuple(map(_text, (name, *names)))),
    "asc": lambda child: Ordering(child, True),
    "desc": lambda child: Ordering(child, False),
    "distinct": Distinct,
    "flatten": Flatten,
    "over": _over,
    "withColumns": _columns(without=False),
    "withoutColumns": _columns(without=True),
    **{kind: _of_window(kind) for kind in ("start", "end", "rowtime", "proctime")},
}
_FORMS_IN_ANY_CASE = {name.upper(): form for name, form in _FORMS.items()}

_INTERNAL = "it is for Flink's planner, not for programs"
_OF_TABLES = "it takes a table"
_OF_TYPES = "a program cannot give it a type; take the method"
_STRUCTURED = "there are no structured types here, only rows; make one with row(...)"
_VARIANT = "there is no type VARIANT here; take json_value() or json_query()"

#: The names of Flink's other built-in functions, in upper case, and why they are not supported.
UNSUPPORTED: dict[str, str] = {
    **dict.fromkeys(
        [
            "$HASHCODE$1",
            "$REPLICATE_ROWS$1",
            "$UNNEST_ROWS$1",
            "$UNNEST_ROWS_WITH_ORDINALITY$1",
            "$WELFORD_M2$1",
            "AGG_DECIMAL_MINUS",
            "AGG_DECIMAL_PLUS",
            "HIVE_AGG_DECIMAL_PLUS",
            "REINTERPRETCAST",
            "STREAMRECORDTIMESTAMP",
        ],
        _INTERNAL,
    ),
    "ML_PREDICT": _OF_TABLES,
    "TO_CHANGELOG": f"{_OF_TABLES}; see Table.to_changelog()",
    "FROM_CHANGELOG": f"{_OF_TABLES}; see Table.from_changelog()",
    "CAST": f"{_OF_TYPES} cast()",
    "TRY_CAST": f"{_OF_TYPES} try_cast()",
    "OBJECT_OF": _STRUCTURED,
    "OBJECT_UPDATE": _STRUCTURED,
    "PARSE_JSON": _VARIANT,
    "TRY_PARSE_JSON": _VARIANT,
    "ASSIGNMENT": "functions here have no named arguments; give them by position",
    "DEFAULT": "functions here have no arguments that may be left out",
    "RANGETO": "take range_() in with_columns() or without_columns()",
}
