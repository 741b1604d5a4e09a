"""How a built-in function is declared: by one entry of a table.

An entry says which arguments a function takes, what the type of its result is, which column of
Spark computes it, and where the result differs from Flink's. It is used to check calls, for the
docstrings of the methods of `Expression`, and to generate docs/table-api/built-in-functions.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.conversion import convert
from pyflow.table.columns.nodes import Literal as LiteralNode
from pyflow.table.columns.nodes import Node, Symbol
from pyflow.table.columns.type_rules import FAMILIES, STRINGS, common, with_nulls
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import BitmapType, DataType, NullType, VarCharType
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import WindowSpec

Nulls = Literal["arguments", "never", "always", "own"]
TypeRule = Callable[["Arguments"], DataType]

# The types to which arguments of these families are cast before the function is applied.
_CONVERTED: dict[str, DataType] = {
    "int": DataTypes.INT(),
    "bigint": DataTypes.BIGINT(),
    "double": DataTypes.DOUBLE(),
    "string": DataTypes.STRING(),
    "bytes": DataTypes.BYTES(),
    "bitmap": BitmapType(),
    "boolean": DataTypes.BOOLEAN(),
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function.

    Parameters
    ----------
    families
        The families of types that it accepts, as in `type_rules.FAMILIES`, or ``symbol``.
    optional, repeated
        Whether its argument may be omitted, and whether it takes any number of arguments.
    """

    families: tuple[str, ...]
    optional: bool
    repeated: bool

    def __str__(self) -> str:
        return "|".join(self.families) + "?" * self.optional + "..." * self.repeated

    @classmethod
    def parse(cls, text: str) -> Parameter:
        """Return the parameter that a string such as ``string|bytes?`` declares."""
        repeated = text.endswith("...")
        text = text.removesuffix("...")
        return cls(tuple(text.rstrip("?").split("|")), text.endswith("?") or repeated, repeated)


@dataclass(frozen=True, eq=False)
class BuiltIn:
    """A built-in function.

    Parameters
    ----------
    name
        Flink's name of its definition, which ``str`` of an expression shows.
    sql_names
        Its names in SQL.
    parameters
        Its parameters.
    result
        The type of its result; `nulls` says whether that is nullable.
    build
        Returns the column of a call.
    nulls
        When the result may be null: if an argument may be, never, always, or as its type says.
    summary
        What it returns, in sentences.
    difference
        How it differs from Flink; empty if it does not.
    aggregate
        Whether it is computed from many rows.
    """

    name: str
    sql_names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    result: TypeRule
    build: Callable[[Arguments], Column]
    nulls: Nulls
    summary: str
    difference: str
    aggregate: bool

    def parameter(self, position: int) -> Parameter | None:
        """Return the parameter at a position; None if there is none."""
        if position < len(self.parameters):
            return self.parameters[position]
        last = self.parameters[-1] if self.parameters else None
        return last if last is not None and last.repeated else None


@dataclass(frozen=True)
class Aggregated:
    """Which values an aggregate is computed from.

    Parameters
    ----------
    distinct
        Whether equal values count once.
    window
        The OVER window; None for the rows of a group.
    """

    distinct: bool
    window: WindowSpec | None

    def __call__(self, aggregate: Column) -> Column:
        """Return an aggregate of Spark, over the window if there is one."""
        return aggregate if self.window is None else aggregate.over(self.window)


class CallScope(Protocol):
    """What a built-in function may ask of the `Scope` that it is called in."""

    @property
    def context(self) -> Any:
        """The context of the table environment; None if there is none."""

    def aggregated(self, distinct: bool) -> Aggregated:
        """Return which values an aggregate is computed from."""


@dataclass(frozen=True)
class Arguments:
    """A call: the function, and its arguments as columns with their types.

    ``arguments[i]`` is the column of an argument. Use `symbol` for an argument that is a `Symbol`.
    """

    function: BuiltIn
    nodes: tuple[Node, ...]
    columns: tuple[Column, ...]
    types: tuple[DataType, ...]
    scope: CallScope
    distinct: bool = False

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, position: int) -> Column:
        return self.columns[position]

    def symbol(self, position: int, default: Any = None) -> Any:
        """Return the value of a `Symbol`, or the default if the argument is missing or not one."""
        if position >= len(self.nodes):
            return default
        node = self.nodes[position]
        return node.value if isinstance(node, Symbol) else default

    def constant(self, position: int) -> Any:
        """Return the value of a literal.

        Raises
        ------
        TableException
            If the argument is not a literal.
        """
        node = self.nodes[position]
        if isinstance(node, LiteralNode):
            return node.value
        raise TableException(
            f"argument {position + 1} of {self.function.name} must be a literal here, not {node}: "
            "Spark does not accept a column there"
        )

    def is_constant(self, position: int) -> bool:
        """Return whether an argument is a literal."""
        return isinstance(self.nodes[position], LiteralNode)

    def as_type(self, position: int, data_type: DataType, tolerant: bool = False) -> Column:
        """Return an argument as a value of another type; see :func:`convert`."""
        return convert(self.columns[position], self.types[position], data_type, tolerant)

    @cached_property
    def result(self) -> DataType:
        """The type of the result."""
        data_type = self.function.result(self)
        if self.function.nulls == "own":
            return data_type
        if isinstance(data_type, NullType) or self.function.nulls == "always":
            return data_type.nullable()
        if self.function.nulls == "never":
            return data_type.not_null()
        used = [t for t, node in zip(self.types, self.nodes) if not isinstance(node, Symbol)]
        return with_nulls(data_type, *used)

    def fail(self, reason: str, error: type[TableException] = TableException) -> TableException:
        """Return an error with a reason why the function cannot be called with these arguments."""
        given = ", ".join(
            str(node) if isinstance(node, Symbol) else data_type.sql
            for node, data_type in zip(self.nodes, self.types)
        )
        return error(f"{self.function.name}({given}): {reason}")


def checked(arguments: Arguments) -> Arguments:
    """Return the call with its arguments cast to the types of the function's parameters.

    Raises
    ------
    TableException
        If there are too many or too few arguments, or one has a wrong type.
    """
    function = arguments.function
    least = sum(not parameter.optional for parameter in function.parameters)
    if len(arguments) < least or (
        len(arguments) and function.parameter(len(arguments) - 1) is None
    ):
        raise arguments.fail(f"it takes {_form(function)}")
    columns = []
    for position, (column, data_type) in enumerate(zip(arguments.columns, arguments.types)):
        parameter = function.parameter(position)
        assert parameter is not None
        is_symbol = isinstance(arguments.nodes[position], Symbol)
        if is_symbol != (parameter.families == ("symbol",)):
            expected = "a value, not a symbol" if is_symbol else "a symbol"
            raise arguments.fail(f"argument {position + 1} must be {expected}")
        if not is_symbol:
            column = _of_family(arguments, position, parameter, column, data_type)
        columns.append(column)
    return Arguments(
        function,
        arguments.nodes,
        tuple(columns),
        arguments.types,
        arguments.scope,
        arguments.distinct,
    )


def _form(function: BuiltIn) -> str:
    return f"({', '.join(map(str, function.parameters))})"


def _of_family(
    arguments: Arguments, position: int, parameter: Parameter, column: Column, data_type: DataType
) -> Column:
    if isinstance(data_type, NullType):
        target = _CONVERTED.get(parameter.families[0])
        return column if target is None else column.cast(to_spark(target))
    for family in parameter.families:
        if isinstance(data_type, FAMILIES[family]):
            target = _CONVERTED.get(family)
            return column if target is None else convert(column, data_type, target)
    raise arguments.fail(
        f"argument {position + 1} is {data_type.sql}, but it takes {_form(arguments.function)}"
    )


_TABLE: dict[str, BuiltIn] = {}


def define(
    names: str,
    parameters: str,
    result: DataType | TypeRule,
    build: Callable[[Arguments], Column],
    summary: str,
    *,
    nulls: Nulls = "arguments",
    difference: str = "",
    aggregate: bool = False,
) -> None:
    """Declare a built-in function.

    Parameters
    ----------
    names
        Its name, then its names in SQL, separated by spaces.
    parameters
        Families of types, as in ``string, int?, any...``.
    result, build, summary, nulls, difference, aggregate
        As in `BuiltIn`.
    """
    name, *sql_names = names.split()
    assert name not in _TABLE, name
    rule = (lambda arguments: result) if isinstance(result, DataType) else result
    texts = [text.strip() for text in parameters.split(",") if text.strip()]
    _TABLE[name] = BuiltIn(
        name,
        tuple(sql_names),
        tuple(map(Parameter.parse, texts)),
        rule,
        build,
        nulls,
        summary,
        difference,
        aggregate,
    )


def table() -> dict[str, BuiltIn]:
    """Return all declared functions by name."""
    return _TABLE


# --- Types of results -------------------------------------------------------------------------

BOOLEAN = DataTypes.BOOLEAN()
INT = DataTypes.INT()
BIGINT = DataTypes.BIGINT()
DOUBLE = DataTypes.DOUBLE()
STRING = DataTypes.STRING()
BYTES = DataTypes.BYTES()


def argument(position: int) -> TypeRule:
    """Return the rule that the result has the type of an argument."""
    return lambda arguments: arguments.types[position]


def varying(position: int) -> TypeRule:
    """Return the rule that the result is a string at most as long as an argument."""

    def rule(arguments: Arguments) -> DataType:
        data_type = arguments.types[position]
        return VarCharType(data_type.length) if isinstance(data_type, STRINGS) else data_type

    return rule


def common_of(start: int = 0, stop: int | None = None) -> TypeRule:
    """Return the rule that the result has the common type of some arguments."""

    def rule(arguments: Arguments) -> DataType:
        return require_common(arguments, arguments.types[start:stop])

    return rule


def require_common(arguments: Arguments, types: Sequence[DataType]) -> DataType:
    """Return the common type of arguments.

    Raises
    ------
    TableException
        If there is none.
    """
    found = common(types)
    if found is None:
        raise arguments.fail("the arguments have no common type; cast them")
    return found


def error(message: str, *values: Column) -> Column:
    """Return a column that fails the query when it is evaluated.

    Parameters
    ----------
    message
        The message; ``{}`` stands for each of the values.
    values
        Strings to put into the message.
    """
    return F.raise_error(F.format_string(message.replace("%", "%%").replace("{}", "%s"), *values))
