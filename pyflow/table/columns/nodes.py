"""What an expression consists of: a tree of nodes, equal by value, that no table is needed for."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyflow.types.logical_types import DataType


@dataclass(frozen=True)
class Node:
    """A part of an expression."""

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes directly inside."""
        return tuple(self._children())

    def _children(self) -> Iterator[Node]:
        for part in fields(self):
            value = getattr(self, part.name)
            for inner in value if isinstance(value, tuple) else (value,):
                if isinstance(inner, Node):
                    yield inner


@dataclass(frozen=True)
class Field(Node):
    """A column of the table, or the name of a window."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Literal(Node):
    """A value that is written in the program.

    Months are an int whose type is an interval of months.
    """

    value: Any
    data_type: DataType

    def __str__(self) -> str:
        from pyflow.types.strings import java_text

        if isinstance(self.value, str):
            return "'" + self.value.replace("'", "''") + "'"
        if isinstance(self.value, datetime.timedelta):
            return str(self.value // datetime.timedelta(milliseconds=1))
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return str(self.value)
        return java_text(self.value, self.data_type, datetime.timezone.utc)

    # 1, 1.0 and True are equal in Python, and are different literals.
    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Literal)
            and type(self.value) is type(other.value)
            and repr(self.value) == repr(other.value)
            and self.data_type == other.data_type
        )

    def __hash__(self) -> int:
        return hash((repr(self.value), self.data_type))


@dataclass(frozen=True)
class Symbol(Node):
    """An argument that is no value: a unit, a clause, a type."""

    value: Any

    def __str__(self) -> str:
        if isinstance(self.value, Enum):
            return self.value.name
        return str(getattr(self.value, "sql", self.value))


@dataclass(frozen=True)
class Call(Node):
    """A call of a built-in function, a `BuiltIn`."""

    function: Any
    arguments: tuple[Node, ...]

    def __str__(self) -> str:
        return f"{self.function.name}({_joined(self.arguments)})"


@dataclass(frozen=True)
class FunctionCall(Node):
    """A call of a function of the program: its wrapper, or the name that it is registered by."""

    function: Any
    arguments: tuple[Node, ...]

    def __str__(self) -> str:
        function = self.function
        name = function if isinstance(function, str) else getattr(function, "name", function)
        return f"{name}({_joined(self.arguments)})"


@dataclass(frozen=True)
class Alias(Node):
    """An expression with a name, or with several where it becomes several columns."""

    child: Node
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"as({_joined((self.child, *map(repr, self.names)))})"


@dataclass(frozen=True)
class Cast(Node):
    """A value as one of another type."""

    child: Node
    data_type: DataType
    try_cast: bool

    def __str__(self) -> str:
        return f"{'TRY_CAST' if self.try_cast else 'cast'}({self.child}, {self.data_type.sql})"


@dataclass(frozen=True)
class Ordering(Node):
    """A value by which rows are ordered."""

    child: Node
    ascending: bool

    def __str__(self) -> str:
        return f"{'asc' if self.ascending else 'desc'}({self.child})"


@dataclass(frozen=True)
class Distinct(Node):
    """An aggregate over values that differ."""

    child: Node

    def __str__(self) -> str:
        return f"distinct({self.child})"


@dataclass(frozen=True)
class Over(Node):
    """An aggregate over the rows of an OVER window.

    Parameters
    ----------
    aggregate
        The aggregate.
    alias
        The window's name.
    as_text
        Whether the program gives the name as a string, not as a column.
    """

    aggregate: Node
    alias: str
    as_text: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        alias = f"'{self.alias}'" if self.as_text else self.alias
        return f"over({self.aggregate}, {alias})"


@dataclass(frozen=True)
class WindowProperty(Node):
    """A property of a group window.

    Parameters
    ----------
    kind
        ``start``, ``end``, ``rowtime`` or ``proctime``.
    alias
        The window's name.
    """

    kind: str
    alias: str

    def __str__(self) -> str:
        return f"{self.kind}({self.alias})"


@dataclass(frozen=True)
class Range(Node):
    """The columns from one to another, by name or by position from 1, both included."""

    start: str | int
    end: str | int

    def __str__(self) -> str:
        return f"rangeTo({self.start}, {self.end})"


@dataclass(frozen=True)
class Columns(Node):
    """Some columns: those that are named, or, ``without``, all others."""

    parts: tuple[Node, ...]
    without: bool

    def __str__(self) -> str:
        return f"{'withoutColumns' if self.without else 'withColumns'}({_joined(self.parts)})"


@dataclass(frozen=True)
class AllColumns(Node):
    """All columns."""

    def __str__(self) -> str:
        return "*"


@dataclass(frozen=True)
class Flatten(Node):
    """The fields of a row, each as a column."""

    child: Node

    def __str__(self) -> str:
        return f"flatten({self.child})"


@dataclass(frozen=True)
class InTable(Node):
    """Whether a value is in a table of one column."""

    child: Node
    table: Any

    def __str__(self) -> str:
        return f"in({self.child}, {self.table})"


@dataclass(frozen=True)
class RowInterval(Node):
    """A number of rows."""

    rows: int

    def __str__(self) -> str:
        return f"{self.rows}"


@dataclass(frozen=True)
class Bound(Node):
    """An end of an OVER window.

    Parameters
    ----------
    kind
        ``UNBOUNDED_ROW``, ``UNBOUNDED_RANGE``, ``CURRENT_ROW`` or ``CURRENT_RANGE``.
    """

    kind: str

    @property
    def is_row(self) -> bool:
        """Whether rows are counted; otherwise the values that order them."""
        return self.kind.endswith("_ROW")

    def __str__(self) -> str:
        return self.kind


@dataclass(frozen=True)
class Sql(Node):
    """An expression in SQL."""

    text: str

    def __str__(self) -> str:
        return f"[{self.text}]"


@dataclass(frozen=True)
class NamedArgument(Node):
    """An argument of a call by its name."""

    name: str
    child: Node

    def __str__(self) -> str:
        return f"ASSIGNMENT('{self.name}', {self.child})"


@dataclass(frozen=True)
class Descriptor(Node):
    """Names of columns, as an argument of a function over tables."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"descriptor({_joined(self.names)})"


def field_names(node: Node) -> Iterator[str]:
    """Yield the names of the columns in an expression."""
    if isinstance(node, Field):
        yield node.name
    for child in node.children:
        yield from field_names(child)


def _joined(parts: tuple[Any, ...]) -> str:
    return ", ".join(map(str, parts))


def transformed(node: Node, change: Callable[[Node], Node | None]) -> Node:
    """Return the node with parts of it replaced: where ``change`` gives one, its result."""
    changed = change(node)
    if changed is not None:
        return changed
    values: dict[str, Any] = {}
    for part in fields(node):
        value = getattr(node, part.name)
        if isinstance(value, Node):
            values[part.name] = transformed(value, change)
        elif isinstance(value, tuple) and any(isinstance(inner, Node) for inner in value):
            values[part.name] = tuple(
                transformed(inner, change) if isinstance(inner, Node) else inner for inner in value
            )
    return replace(node, **values) if values else node
