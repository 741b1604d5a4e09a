"""Expressions: values of columns, computed from other columns (``pyflink.table.expression``).

The functions themselves are entries of the table in `pyflow.table.functions.builtins`.
"""

from __future__ import annotations

import datetime
import decimal
import sys
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast, overload

from pyflow.table.columns import nodes
from pyflow.table.columns.nodes import Node
from pyflow.table.columns.type_rules import MONTHS, SECONDS
from pyflow.table.functions.builtins import built_in
from pyflow.types.data_types import DataTypes
from pyflow.types.inference import infer
from pyflow.types.logical_types import DataType
from pyflow.types.values import stored_type
from pyflow.util.unsupported import unsupported

__all__ = [
    "Expression",
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "TimeIntervalUnit",
    "TimePointUnit",
]


class TimeIntervalUnit(Enum):
    """Units of time of which times are made, and to which they are rounded."""

    YEAR = 0
    YEAR_TO_MONTH = 1
    QUARTER = 2
    MONTH = 3
    WEEK = 4
    DAY = 5
    DAY_TO_HOUR = 6
    DAY_TO_MINUTE = 7
    DAY_TO_SECOND = 8
    HOUR = 9
    SECOND = 10
    HOUR_TO_MINUTE = 11
    HOUR_TO_SECOND = 12
    MINUTE = 13
    MINUTE_TO_SECOND = 14


class TimePointUnit(Enum):
    """Units in which the time between two times is counted."""

    YEAR = 0
    MONTH = 1
    DAY = 2
    HOUR = 3
    MINUTE = 4
    SECOND = 5
    QUARTER = 6
    WEEK = 7
    MILLISECOND = 8
    MICROSECOND = 9


class JsonType(Enum):
    """Kinds of JSON for `Expression.is_json`."""

    VALUE = 0
    SCALAR = 1
    ARRAY = 2
    OBJECT = 3


class JsonExistsOnError(Enum):
    """What `Expression.json_exists` gives where there is an error."""

    TRUE = 0
    FALSE = 1
    UNKNOWN = 2
    ERROR = 3


class JsonValueOnEmptyOrError(Enum):
    """What `Expression.json_value` gives where there is nothing, or an error."""

    NULL = 0
    ERROR = 1
    DEFAULT = 2


class JsonQueryWrapper(Enum):
    """When `Expression.json_query` puts its result into an array."""

    WITHOUT_ARRAY = 0
    CONDITIONAL_ARRAY = 1
    UNCONDITIONAL_ARRAY = 2


class JsonQueryOnEmptyOrError(Enum):
    """What `Expression.json_query` gives where there is nothing, or an error."""

    NULL = 0
    EMPTY_ARRAY = 1
    EMPTY_OBJECT = 2
    ERROR = 3


class JsonOnNull(Enum):
    """Whether nulls are in the JSON that is made."""

    NULL = 0
    ABSENT = 1


T = TypeVar("T")

_STRUCTURED = "there are no structured types here, only rows; make one with row(...)"


def node_of(value: Any) -> Node:
    """Return the node of an expression, or of a value of Python as a literal."""
    if isinstance(value, Expression):
        return value._node
    return nodes.Literal(value, infer(value))


def call_built_in(name: str, *arguments: Any) -> Expression[Any]:
    """Return the call of a built-in function.

    Parameters
    ----------
    name
        Flink's name of its definition.
    arguments
        Expressions, nodes, or values of Python.
    """
    found = (each if isinstance(each, Node) else node_of(each) for each in arguments)
    return Expression(nodes.Call(built_in(name), tuple(found)))


def given(*arguments: Any) -> tuple[Any, ...]:
    """Return the arguments before the first that is not given."""
    present = [each is not None for each in arguments]
    return arguments[: present.index(False)] if False in present else arguments


class _Property(property, Generic[T]):
    """A property of an expression that is the call of a built-in function."""

    def __init__(self, name: str) -> None:
        super().__init__(lambda expression: call_built_in(name, expression))
        self.__doc__ = built_in(name).summary

    if TYPE_CHECKING:

        @overload  # type: ignore[override]
        def __get__(self, instance: None, owner: type) -> _Property[T]: ...

        @overload
        def __get__(self, instance: Expression[Any], owner: type) -> Expression[T]: ...

        def __get__(self, instance: Any, owner: type) -> Any: ...


def _interval(multiple: int, data_type: DataType, unit: str) -> property:
    def interval(expression: Expression[Any]) -> Expression[Any]:
        return _interval_of(expression, multiple, data_type)

    return property(interval, doc=f"An interval in {unit}.")


def _interval_of(
    expression: Expression[Any], multiple: int, data_type: DataType
) -> Expression[Any]:
    node = expression._node
    one: Any = multiple
    if data_type is SECONDS:
        one = datetime.timedelta(milliseconds=multiple)
    is_number = isinstance(node, nodes.Literal) and isinstance(
        node.value, (int, float, decimal.Decimal)
    )
    if is_number and not isinstance(cast(nodes.Literal, node).value, bool):
        value = cast(nodes.Literal, node).value
        if data_type is SECONDS:
            length: Any = datetime.timedelta(milliseconds=int(value) * multiple)
        else:
            length = int(value) * multiple
        return Expression(nodes.Literal(length, data_type.not_null()))
    return call_built_in("times", expression, nodes.Literal(one, data_type.not_null()))


_SECOND = 1000
_MINUTE = 60 * _SECOND
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


class Expression(Generic[T]):
    """A value of a column, computed from other columns: a literal, a field, or a call.

    Expressions are made by the functions of `pyflow.table.expressions`, by operators, and by the
    methods here. They never change, and need no table to be made. ``expression.name`` is
    ``expression.get("name")`` for every name that is not one of the members here.
    """

    __slots__ = ("_node",)

    def __init__(self, node: Node) -> None:
        self._node = node

    def __str__(self) -> str:
        return str(self._node)

    def __repr__(self) -> str:
        return f"Expression<{self._node}>"

    def __getattr__(self, name: str) -> Expression[Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    def __getitem__(self, index: Any) -> Expression[Any]:
        return self.at(index)

    # It has __getitem__, so Python would iterate without end.
    __iter__ = None

    def __bool__(self) -> NoReturn:
        raise ValueError(
            f"{self} has no truth value in the program: combine conditions with &, | and ~, "
            "each in parentheses"
        )

    # --- Operators ----------------------------------------------------------------------------

    __hash__ = None  # type: ignore[assignment]

    def __abs__(self) -> Expression[Any]:
        return call_built_in("abs", self)

    def __eq__(self, other: object) -> Expression[bool]:  # type: ignore[override]
        return call_built_in("equals", self, other)

    def __ne__(self, other: object) -> Expression[bool]:  # type: ignore[override]
        return call_built_in("notEquals", self, other)

    def __lt__(self, other: Any) -> Expression[bool]:
        return call_built_in("lessThan", self, other)

    def __gt__(self, other: Any) -> Expression[bool]:
        return call_built_in("greaterThan", self, other)

    def __le__(self, other: Any) -> Expression[bool]:
        return call_built_in("lessThanOrEqual", self, other)

    def __ge__(self, other: Any) -> Expression[bool]:
        return call_built_in("greaterThanOrEqual", self, other)

    def __and__(self, other: Any) -> Expression[bool]:
        return call_built_in("and", self, other)

    def __or__(self, other: Any) -> Expression[bool]:
        return call_built_in("or", self, other)

    def __invert__(self) -> Expression[bool]:
        return call_built_in("isNotTrue", self)

    def __rand__(self, other: Any) -> Expression[bool]:
        return call_built_in("and", self, other)

    def __ror__(self, other: Any) -> Expression[bool]:
        return call_built_in("or", self, other)

    def __add__(self, other: Any) -> Expression[Any]:
        return call_built_in("plus", self, other)

    def __sub__(self, other: Any) -> Expression[Any]:
        return call_built_in("minus", self, other)

    def __mul__(self, other: Any) -> Expression[Any]:
        return call_built_in("times", self, other)

    def __truediv__(self, other: Any) -> Expression[Any]:
        return call_built_in("divide", self, other)

    def __mod__(self, other: Any) -> Expression[Any]:
        return call_built_in("mod", self, other)

    def __pow__(self, other: Any) -> Expression[float]:
        return call_built_in("power", self, other)

    def __neg__(self) -> Expression[Any]:
        return call_built_in("minusPrefix", self)

    def __radd__(self, other: Any) -> Expression[Any]:
        return call_built_in("plus", other, self)

    def __rsub__(self, other: Any) -> Expression[Any]:
        return call_built_in("minus", other, self)

    def __rmul__(self, other: Any) -> Expression[Any]:
        return call_built_in("times", self, other)

    def __rtruediv__(self, other: Any) -> Expression[Any]:
        return call_built_in("divide", other, self)

    def __rmod__(self, other: Any) -> Expression[Any]:
        return call_built_in("mod", other, self)

    def __rpow__(self, other: Any) -> Expression[float]:
        return call_built_in("power", other, self)

    # --- Functions without arguments ----------------------------------------------------------

    # Numbers

    exp = _Property[float]("exp")
    log10 = _Property[float]("log10")
    log2 = _Property[float]("log2")
    ln = _Property[float]("ln")
    cosh = _Property[float]("cosh")
    sinh = _Property[float]("sinh")
    sin = _Property[float]("sin")
    cos = _Property[float]("cos")
    tan = _Property[float]("tan")
    cot = _Property[float]("cot")
    asin = _Property[float]("asin")
    acos = _Property[float]("acos")
    atan = _Property[float]("atan")
    tanh = _Property[float]("tanh")
    degrees = _Property[float]("degrees")
    radians = _Property[float]("radians")
    sqrt = _Property[float]("sqrt")
    abs = _Property[Any]("abs")
    sign = _Property[Any]("sign")
    bin = _Property[str]("bin")
    hex = _Property[str]("hex")
    unhex = _Property[bytes]("UNHEX")

    # Conditions

    is_null = _Property[bool]("isNull")
    is_not_null = _Property[bool]("isNotNull")
    is_true = _Property[bool]("isTrue")
    is_false = _Property[bool]("isFalse")
    is_not_true = _Property[bool]("isNotTrue")
    is_not_false = _Property[bool]("isNotFalse")

    # Aggregates

    sum = _Property[Any]("sum")
    sum0 = _Property[Any]("sum0")
    min = _Property[Any]("min")
    max = _Property[Any]("max")
    count = _Property[int]("count")
    avg = _Property[Any]("avg")
    first_value = _Property[Any]("first_value")
    last_value = _Property[Any]("last_value")
    stddev_pop = _Property[Any]("stddevPop")
    stddev_samp = _Property[Any]("stddevSamp")
    var_pop = _Property[Any]("varPop")
    var_samp = _Property[Any]("varSamp")
    collect = _Property[Any]("collect")
    array_agg = _Property[Any]("ARRAY_AGG")

    # Texts

    char_length = _Property[int]("charLength")
    upper_case = _Property[str]("upper")
    lower_case = _Property[str]("lower")
    init_cap = _Property[str]("initCap")
    from_base64 = _Property[str]("fromBase64")
    to_base64 = _Property[str]("toBase64")
    ascii = _Property[int]("ascii")
    chr = _Property[str]("chr")
    reverse = _Property[str]("reverse")
    md5 = _Property[str]("md5")
    sha1 = _Property[str]("sha1")
    sha224 = _Property[str]("sha224")
    sha256 = _Property[str]("sha256")
    sha384 = _Property[str]("sha384")
    sha512 = _Property[str]("sha512")

    # Collections

    cardinality = _Property[int]("cardinality")
    element = _Property[Any]("element")
    map_keys = _Property[Any]("MAP_KEYS")
    map_values = _Property[Any]("MAP_VALUES")
    map_entries = _Property[Any]("MAP_ENTRIES")

    # Intervals

    year = _interval(12, MONTHS, "years")
    years = _interval(12, MONTHS, "years")
    quarter = _interval(3, MONTHS, "quarters")
    quarters = _interval(3, MONTHS, "quarters")
    month = _interval(1, MONTHS, "months")
    months = _interval(1, MONTHS, "months")
    week = _interval(7 * _DAY, SECONDS, "weeks")
    weeks = _interval(7 * _DAY, SECONDS, "weeks")
    day = _interval(_DAY, SECONDS, "days")
    days = _interval(_DAY, SECONDS, "days")
    hour = _interval(_HOUR, SECONDS, "hours")
    hours = _interval(_HOUR, SECONDS, "hours")
    minute = _interval(_MINUTE, SECONDS, "minutes")
    minutes = _interval(_MINUTE, SECONDS, "minutes")
    second = _interval(_SECOND, SECONDS, "seconds")
    seconds = _interval(_SECOND, SECONDS, "seconds")
    milli = _interval(1, SECONDS, "milliseconds")
    millis = _interval(1, SECONDS, "milliseconds")

    # --- Names, types, order ------------------------------------------------------------------

    def alias(self, name: str, *extra_names: str) -> Expression[T]:
        """Name the expression, or the columns that it becomes.

        Parameters
        ----------
        name : str
            The name of its column.
        *extra_names : str
            The names of the columns behind, where it becomes several.
        """
        return Expression(nodes.Alias(self._node, (name, *extra_names)))

    def as_argument(self, name: str) -> Expression[Any]:
        """Give the expression as the argument of a name; functions here take them by position."""
        return Expression(nodes.NamedArgument(name, self._node))

    def cast(self, data_type: DataType) -> Expression[Any]:
        """Return the value, cast to another type; a value that cannot be cast fails the query.

        Parameters
        ----------
        data_type : DataType
            The type. Whole numbers that are too great for it wrap around, DECIMALs become null.
        """
        return Expression(nodes.Cast(self._node, stored_type(data_type), False))

    def try_cast(self, data_type: DataType) -> Expression[Any]:
        """Return the value, cast to another type, or null if it cannot be cast."""
        return Expression(nodes.Cast(self._node, stored_type(data_type), True))

    @property
    def asc(self) -> Expression[Any]:
        """Ascending order, for ``order_by``."""
        return Expression(nodes.Ordering(self._node, True))

    @property
    def desc(self) -> Expression[Any]:
        """Descending order, for ``order_by``."""
        return Expression(nodes.Ordering(self._node, False))

    @property
    def distinct(self) -> Expression[Any]:
        """The aggregate over distinct values: ``col("a").sum.distinct``."""
        return Expression(nodes.Distinct(self._node))

    def over(self, alias: Any) -> Expression[Any]:
        """Return the aggregate over an OVER window.

        Parameters
        ----------
        alias : Expression or str
            The window's name, as in ``col("w")``.
        """
        return Expression(nodes.Over(self._node, str(alias), as_text=isinstance(alias, str)))

    @property
    def flatten(self) -> Expression[Any]:
        """The fields of the row, each as a column."""
        return Expression(nodes.Flatten(self._node))

    def _property_of_window(self, kind: str) -> Expression[Any]:
        return Expression(nodes.WindowProperty(kind, str(self._node)))

    @property
    def start(self) -> Expression[Any]:
        """The start of the window of this name, which belongs to it."""
        return self._property_of_window("start")

    @property
    def end(self) -> Expression[Any]:
        """The end of the window of this name, which does not belong to it."""
        return self._property_of_window("end")

    @property
    def rowtime(self) -> Expression[Any]:
        """The event time of the window of this name, or the field as event time."""
        return self._property_of_window("rowtime")

    @property
    def proctime(self) -> Expression[Any]:
        """The processing time of the window of this name, or the field as processing time."""
        return self._property_of_window("proctime")

    @property
    def to_date(self) -> Expression[Any]:
        """The value as a DATE, as `cast` does it."""
        return self.cast(DataTypes.DATE())

    @property
    def to_time(self) -> Expression[Any]:
        """The value as a TIME(0), as `cast` does it."""
        return self.cast(DataTypes.TIME())

    @property
    def to_timestamp(self) -> Expression[Any]:
        """The value as a TIMESTAMP(3), as `cast` does it."""
        return self.cast(DataTypes.TIMESTAMP(3))

    # --- Conditions ---------------------------------------------------------------------------

    def between(self, lower_bound: Any, upper_bound: Any) -> Expression[bool]:
        return call_built_in("between", self, lower_bound, upper_bound)

    def not_between(self, lower_bound: Any, upper_bound: Any) -> Expression[bool]:
        return call_built_in("notBetween", self, lower_bound, upper_bound)

    def then(self, if_true: Any, if_false: Any) -> Expression[Any]:
        return call_built_in("ifThenElse", self, if_true, if_false)

    def if_null(self, null_replacement: Any) -> Expression[Any]:
        return call_built_in("IFNULL", self, null_replacement)

    def in_(self, first_element_or_table: Any, *remaining_elements: Any) -> Expression[bool]:
        """Return whether the value is one of those given, or in a table of one column.

        Parameters
        ----------
        first_element_or_table
            A value, or a table.
        *remaining_elements
            The other values.
        """
        # A table can only be there if its module is.
        tables = sys.modules.get("pyflow.table.table")
        if tables is not None and isinstance(first_element_or_table, tables.Table):
            return Expression(nodes.InTable(self._node, first_element_or_table))
        return call_built_in("in", self, first_element_or_table, *remaining_elements)

    # --- Numbers ------------------------------------------------------------------------------

    def log(self, base: Any = None) -> Expression[float]:
        return call_built_in("log", *given(base), self)

    def round(self, places: Any) -> Expression[Any]:
        return call_built_in("round", self, places)

    def truncate(self, n: Any = 0) -> Expression[T]:
        return call_built_in("truncate", self, n)

    def percentile(self, percentage: Any, frequency: Any = None) -> Expression[Any]:
        return call_built_in("PERCENTILE", self, _array_of(percentage), *given(frequency))

    # --- Texts --------------------------------------------------------------------------------

    def concat(self, other: Any) -> Expression[str]:
        return call_built_in("concat", self, other)

    def list_agg(self, separator: Any = None) -> Expression[str]:
        return call_built_in("listAgg", self, "," if separator is None else separator)

    def starts_with(self, start_expr: Any) -> Expression[bool]:
        return call_built_in("STARTSWITH", self, start_expr)

    def ends_with(self, end_expr: Any) -> Expression[bool]:
        return call_built_in("ENDSWITH", self, end_expr)

    def substring(self, begin_index: Any, length: Any = None) -> Expression[str]:
        return call_built_in("substring", self, begin_index, *given(length))

    def substr(self, begin_index: Any, length: Any = None) -> Expression[str]:
        return call_built_in("substr", self, begin_index, *given(length))

    def trim_leading(self, character: Any = None) -> Expression[str]:
        return call_built_in("trim", True, False, _trimmed(character), self)

    def trim_trailing(self, character: Any = None) -> Expression[str]:
        return call_built_in("trim", False, True, _trimmed(character), self)

    def trim(self, character: Any = None) -> Expression[str]:
        return call_built_in("trim", True, True, _trimmed(character), self)

    def replace(self, search: Any = None, replacement: Any = None) -> Expression[str]:
        return call_built_in("replace", self, search, replacement)

    def translate(self, from_str: Any, to_str: Any) -> Expression[str]:
        return call_built_in("TRANSLATE3", self, from_str, to_str)

    def like(self, pattern: Any = None, escape: Any = None) -> Expression[bool]:
        return call_built_in("LIKE", self, pattern, *given(escape))

    def similar(self, pattern: Any = None) -> Expression[bool]:
        return call_built_in("similar", self, pattern)

    def position(self, haystack: Any = None) -> Expression[int]:
        return call_built_in("position", self, haystack)

    def lpad(self, length: Any, pad: Any) -> Expression[str]:
        return call_built_in("lpad", self, length, pad)

    def rpad(self, length: Any, pad: Any) -> Expression[str]:
        return call_built_in("rpad", self, length, pad)

    def overlay(self, new_string: Any, starting: Any, length: Any = None) -> Expression[str]:
        return call_built_in("overlay", self, new_string, starting, *given(length))

    def regexp(self, regex: Any) -> Expression[bool]:
        return call_built_in("regexp", self, regex)

    def regexp_count(self, regex: Any) -> Expression[int]:
        return call_built_in("REGEXP_COUNT", self, regex)

    def regexp_replace(self, regex: Any, replacement: Any) -> Expression[str]:
        return call_built_in("regexpReplace", self, regex, replacement)

    def regexp_extract(self, regex: Any, extract_index: Any = None) -> Expression[str]:
        return call_built_in("regexpExtract", self, regex, *given(extract_index))

    def regexp_extract_all(self, regex: Any, extract_index: Any = None) -> Expression[Any]:
        return call_built_in("REGEXP_EXTRACT_ALL", self, regex, *given(extract_index))

    def regexp_instr(self, regex: Any) -> Expression[int]:
        return call_built_in("REGEXP_INSTR", self, regex)

    def regexp_substr(self, regex: Any) -> Expression[str]:
        return call_built_in("REGEXP_SUBSTR", self, regex)

    def decode(self, charset: Any) -> Expression[str]:
        return call_built_in("decode", self, charset)

    def encode(self, charset: Any) -> Expression[bytes]:
        return call_built_in("encode", self, charset)

    def left(self, length: Any) -> Expression[str]:
        return call_built_in("left", self, length)

    def right(self, length: Any) -> Expression[str]:
        return call_built_in("right", self, length)

    def instr(self, s: Any) -> Expression[int]:
        return call_built_in("instr", self, s)

    def locate(self, s: Any, pos: Any = None) -> Expression[int]:
        return call_built_in("locate", self, s, *given(pos))

    def url_decode(self) -> Expression[str]:
        return call_built_in("URL_DECODE", self)

    def url_encode(self) -> Expression[str]:
        return call_built_in("URL_ENCODE", self)

    def inet_aton(self) -> Expression[int]:
        return call_built_in("INET_ATON", self)

    def inet_ntoa(self) -> Expression[str]:
        return call_built_in("INET_NTOA", self)

    def parse_url(self, part_to_extract: Any, key: Any = None) -> Expression[str]:
        return call_built_in("parseUrl", self, part_to_extract, *given(key))

    def printf(self, *obj: Any) -> Expression[str]:
        return call_built_in("PRINTF", self, *obj)

    def ltrim(self, trim_str: Any = None) -> Expression[str]:
        return call_built_in("ltrim", self, *given(trim_str))

    def rtrim(self, trim_str: Any = None) -> Expression[str]:
        return call_built_in("rtrim", self, *given(trim_str))

    def btrim(self, trim_str: Any = None) -> Expression[str]:
        return call_built_in("BTRIM", self, *given(trim_str))

    def repeat(self, n: Any) -> Expression[str]:
        return call_built_in("repeat", self, n)

    def split_index(self, separator: Any, index: Any) -> Expression[str]:
        return call_built_in("splitIndex", self, separator, index)

    def str_to_map(
        self, list_delimiter: Any = None, key_value_delimiter: Any = None
    ) -> Expression[Any]:
        delimiters = given(list_delimiter, key_value_delimiter)
        return call_built_in("strToMap", self, *(delimiters if len(delimiters) == 2 else ()))

    def elt(self, expr: Any, *exprs: Any) -> Expression[Any]:
        return call_built_in("ELT", self, expr, *exprs)

    def split(self, delimiter: Any) -> Expression[Any]:
        return call_built_in("SPLIT", self, delimiter)

    def sha2(self, hash_length: Any) -> Expression[str]:
        return call_built_in("sha2", self, hash_length)

    # --- Times --------------------------------------------------------------------------------

    def extract(self, time_interval_unit: TimeIntervalUnit) -> Expression[int]:
        return call_built_in("extract", nodes.Symbol(time_interval_unit), self)

    def floor(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression[Any]:
        return call_built_in("floor", self, *_symbols(time_interval_unit))

    def ceil(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression[Any]:
        return call_built_in("ceil", self, *_symbols(time_interval_unit))

    # --- Collections --------------------------------------------------------------------------

    def get(self, name_or_index: str | int) -> Expression[Any]:
        return call_built_in("get", self, name_or_index)

    def at(self, index: Any) -> Expression[Any]:
        return call_built_in("at", self, index)

    def array_append(self, addition: Any) -> Expression[Any]:
        return call_built_in("ARRAY_APPEND", self, addition)

    def array_contains(self, needle: Any) -> Expression[bool]:
        return call_built_in("ARRAY_CONTAINS", self, needle)

    def array_distinct(self) -> Expression[Any]:
        return call_built_in("ARRAY_DISTINCT", self)

    def array_position(self, needle: Any) -> Expression[int]:
        return call_built_in("ARRAY_POSITION", self, needle)

    def array_prepend(self, addition: Any) -> Expression[Any]:
        return call_built_in("ARRAY_PREPEND", self, addition)

    def array_remove(self, needle: Any) -> Expression[Any]:
        return call_built_in("ARRAY_REMOVE", self, needle)

    def array_reverse(self) -> Expression[Any]:
        return call_built_in("ARRAY_REVERSE", self)

    def array_slice(self, start_offset: Any, end_offset: Any = None) -> Expression[Any]:
        return call_built_in("ARRAY_SLICE", self, start_offset, *given(end_offset))

    def array_sort(self, ascending_order: Any = None, null_first: Any = None) -> Expression[Any]:
        if ascending_order is None and null_first is not None:
            ascending_order = True
        return call_built_in("ARRAY_SORT", self, *given(ascending_order, null_first))

    def array_union(self, array: Any) -> Expression[Any]:
        return call_built_in("ARRAY_UNION", self, array)

    def array_concat(self, *arrays: Any) -> Expression[Any]:
        return call_built_in("ARRAY_CONCAT", self, *arrays)

    def array_max(self) -> Expression[Any]:
        return call_built_in("ARRAY_MAX", self)

    def array_join(self, delimiter: Any, null_replacement: Any = None) -> Expression[str]:
        return call_built_in("ARRAY_JOIN", self, delimiter, *given(null_replacement))

    def array_min(self) -> Expression[Any]:
        return call_built_in("ARRAY_MIN", self)

    def array_except(self, array: Any) -> Expression[Any]:
        return call_built_in("ARRAY_EXCEPT", self, array)

    def array_intersect(self, array: Any) -> Expression[Any]:
        return call_built_in("ARRAY_INTERSECT", self, array)

    def map_union(self, *maps: Any) -> Expression[Any]:
        return call_built_in("MAP_UNION", self, *maps)

    # --- JSON ---------------------------------------------------------------------------------

    def is_json(self, json_type: JsonType | None = None) -> Expression[bool]:
        return call_built_in("IS_JSON", self, *_symbols(json_type))

    def json_exists(self, path: str, on_error: JsonExistsOnError | None = None) -> Expression[bool]:
        return call_built_in("JSON_EXISTS", self, path, *_symbols(on_error))

    def json_value(
        self,
        path: str,
        returning_type: DataType = DataTypes.STRING(),  # noqa: B008
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: Any = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: Any = None,
    ) -> Expression[Any]:
        """Return the scalar at a path.

        Parameters
        ----------
        path : str
            The path, as ``$.a[0]``, with ``lax`` or ``strict`` in front. In strict mode, which is
            the default, a missing member is an error.
        returning_type : DataType
            STRING, BOOLEAN, INT or DOUBLE.
        on_empty, on_error : JsonValueOnEmptyOrError
            What there is where the path is empty, or where there is an error.
        default_on_empty, default_on_error
            The value for DEFAULT.
        """
        return call_built_in(
            "JSON_VALUE",
            self,
            path,
            nodes.Symbol(stored_type(returning_type)),
            nodes.Symbol(on_empty),
            default_on_empty,
            nodes.Symbol(on_error),
            default_on_error,
        )

    def json_query(
        self,
        path: str,
        wrapping_behavior: JsonQueryWrapper = JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
        on_error: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
    ) -> Expression[str]:
        """Return the JSON at a path as a string.

        Parameters
        ----------
        path : str
            The path, as in `json_value`.
        wrapping_behavior : JsonQueryWrapper
            Whether it is put into an array.
        on_empty, on_error : JsonQueryOnEmptyOrError
            What there is where the path is empty, or where there is an error.
        """
        return call_built_in(
            "JSON_QUERY",
            self,
            path,
            *_symbols(DataTypes.STRING(), wrapping_behavior, on_empty, on_error),
        )

    def json_quote(self) -> Expression[str]:
        return call_built_in("JSON_QUOTE", self)

    def json_unquote(self) -> Expression[str]:
        return call_built_in("JSON_UNQUOTE", self)

    # --- Bitmaps ------------------------------------------------------------------------------

    def bitmap_build(self) -> Expression[Any]:
        return call_built_in("BITMAP_BUILD", self)

    def bitmap_from_bytes(self) -> Expression[Any]:
        return call_built_in("BITMAP_FROM_BYTES", self)

    def bitmap_to_bytes(self) -> Expression[bytes]:
        return call_built_in("BITMAP_TO_BYTES", self)

    def bitmap_to_array(self) -> Expression[list[int]]:
        return call_built_in("BITMAP_TO_ARRAY", self)

    def bitmap_to_string(self) -> Expression[str]:
        return call_built_in("BITMAP_TO_STRING", self)

    def bitmap_cardinality(self) -> Expression[int]:
        return call_built_in("BITMAP_CARDINALITY", self)

    def bitmap_and(self, bitmap2: Any) -> Expression[Any]:
        return call_built_in("BITMAP_AND", self, bitmap2)

    def bitmap_or(self, bitmap2: Any) -> Expression[Any]:
        return call_built_in("BITMAP_OR", self, bitmap2)

    def bitmap_xor(self, bitmap2: Any) -> Expression[Any]:
        return call_built_in("BITMAP_XOR", self, bitmap2)

    def bitmap_andnot(self, bitmap2: Any) -> Expression[Any]:
        return call_built_in("BITMAP_ANDNOT", self, bitmap2)

    def bitmap_build_agg(self) -> Expression[Any]:
        return call_built_in("BITMAP_BUILD_AGG", self)

    def bitmap_build_cardinality_agg(self) -> Expression[int]:
        return call_built_in("BITMAP_BUILD_CARDINALITY_AGG", self)

    def bitmap_or_agg(self) -> Expression[Any]:
        return call_built_in("BITMAP_OR_AGG", self)

    def bitmap_or_cardinality_agg(self) -> Expression[int]:
        return call_built_in("BITMAP_OR_CARDINALITY_AGG", self)

    def bitmap_and_agg(self) -> Expression[Any]:
        return call_built_in("BITMAP_AND_AGG", self)

    def bitmap_and_cardinality_agg(self) -> Expression[int]:
        return call_built_in("BITMAP_AND_CARDINALITY_AGG", self)

    def bitmap_xor_agg(self) -> Expression[Any]:
        return call_built_in("BITMAP_XOR_AGG", self)

    def bitmap_xor_cardinality_agg(self) -> Expression[int]:
        return call_built_in("BITMAP_XOR_CARDINALITY_AGG", self)

    # --- What is not supported ------------------------------------------------------------------

    @unsupported(_STRUCTURED)
    def object_update(self, *kv: Any) -> Expression[Any]:
        """Change fields of a structured object."""
        raise AssertionError


def _symbols(*values: Enum | DataType | None) -> tuple[Node, ...]:
    return tuple(map(nodes.Symbol, given(*values)))


def _trimmed(character: Any) -> Any:
    """Return the characters that are trimmed: a blank where none are given."""
    return " " if character is None else character


def _array_of(value: Any) -> Any:
    """Return a list as the array of its values."""
    if isinstance(value, (list, tuple)):
        return call_built_in("array", *value)
    return value


# Functions that are not called by their own name in camel or upper case.
_NAMES = {
    "in_": "in",
    "upper_case": "upper",
    "lower_case": "lower",
    "if_null": "IFNULL",
    "then": "ifThenElse",
    "list_agg": "listAgg",
    "json_array_agg": "JSON_ARRAYAGG_NULL_ON_NULL",
    "json_object_agg": "JSON_OBJECTAGG_NULL_ON_NULL",
    "translate": "TRANSLATE3",
    "trim_leading": "trim",
    "trim_trailing": "trim",
    "negative": "minusPrefix",
}


def name_of_built_in(member: str) -> str | None:
    """Return the built-in function that a method here, or a function of `expressions`, calls."""
    from pyflow.table.functions.builtins.definition import table

    name = member.rstrip("_")
    first, *others = name.split("_")
    camel = first + "".join(part.capitalize() for part in others)
    candidates = (_NAMES.get(member), camel, camel.upper(), name, name.upper())
    return next((each for each in candidates if each in table()), None)


def document(members: dict[str, Any]) -> None:
    """Give functions their docstring from the table of built-in functions."""
    for member, function in members.items():
        if callable(function) and not member.startswith("_") and not function.__doc__:
            name = name_of_built_in(member)
            assert name is not None, member
            entry = built_in(name)
            difference = f"\n\nUnlike in Flink: {entry.difference}" if entry.difference else ""
            function.__doc__ = entry.summary + difference


document(dict(vars(Expression)))
