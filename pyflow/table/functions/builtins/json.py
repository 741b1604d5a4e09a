"""JSON: what is in it at a path, and how it is made of values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.arithmetic import is_floating
from pyflow.table.columns.conversion import convert
from pyflow.table.columns.nodes import Call, Node
from pyflow.table.columns.python_builtins import in_python
from pyflow.table.columns.time_values import formatted, in_utc
from pyflow.table.columns.type_rules import BYTES, STRINGS, TIMESTAMPS
from pyflow.table.functions.builtins.definition import (
    BOOLEAN,
    STRING,
    Aggregated,
    Arguments,
    define,
)
from pyflow.table.runtime.builtins import json_paths, json_values
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import (
    ArrayType,
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NumericType,
    RowType,
    TimestampType,
)
from pyflow.util.exceptions import TableException

_PATH = "Paths have no filters and no functions; they must be literals."

# --- Reading ----------------------------------------------------------------------------------


def _is_json(a: Arguments) -> Column:
    kind = a.symbol(1)
    name = kind.name if kind else "VALUE"
    return in_python(partial(json_values.is_json, kind=name), BOOLEAN)(a[0])


define(
    "IS_JSON", "string, symbol?", BOOLEAN, _is_json,
    "Whether a string is JSON, of a kind: VALUE, SCALAR, ARRAY or OBJECT.", nulls="never",
)  # fmt: skip


def _path(a: Arguments) -> str:
    """Return the path that is the second argument.

    Raises
    ------
    TableException
        If it is not a valid path, or not a literal.
    """
    path = str(a.constant(1))
    try:
        json_paths.parse(path)
    except ValueError as reason:
        raise TableException(f"{a.function.name}: {reason}") from None
    return path


def _exists(a: Arguments) -> Column:
    on_error = a.symbol(2)
    function = partial(
        json_values.exists, path=_path(a), on_error=on_error.name if on_error else "FALSE"
    )
    return in_python(function, BOOLEAN)(a[0])


define(
    "JSON_EXISTS JSON_EXISTS", "string, string, symbol?", BOOLEAN, _exists,
    "Whether there is a value at a path.", difference=_PATH, nulls="always",
)  # fmt: skip

_RETURNING = (STRING, BOOLEAN, DataTypes.INT(), DataTypes.DOUBLE())


def _value_type(a: Arguments) -> DataType:
    returning: DataType = a.symbol(2, STRING)
    if not isinstance(returning, (*STRINGS, BooleanType, IntType, DoubleType)):
        raise a.fail(
            f"it returns {', '.join(each.sql for each in _RETURNING)}, not {returning.sql}"
        )
    return returning


def _value(a: Arguments) -> Column:
    on_empty, on_error = a.symbol(3), a.symbol(5)
    function = partial(
        json_values.value,
        path=_path(a),
        on_empty=on_empty.name if on_empty else "NULL",
        on_error=on_error.name if on_error else "NULL",
    )
    defaults = [
        convert(a[position], a.types[position], STRING)
        if len(a) > position
        else F.lit(None).cast("string")
        for position in (4, 6)
    ]
    text = in_python(function, STRING)(a[0], *defaults)
    return convert(text, STRING, a.result)


define(
    "JSON_VALUE JSON_VALUE", "string, string, symbol?, symbol?, any?, symbol?, any?", _value_type,
    _value, "The scalar at a path, as a value of a type.", difference=_PATH, nulls="always",
)  # fmt: skip


def _query(a: Arguments) -> Column:
    names = [
        symbol.name if symbol else default
        for symbol, default in zip(
            (a.symbol(3), a.symbol(4), a.symbol(5)), ("WITHOUT_ARRAY", "NULL", "NULL")
        )
    ]
    function = partial(
        json_values.query, path=_path(a), wrapper=names[0], on_empty=names[1], on_error=names[2]
    )
    return in_python(function, STRING)(a[0])


define(
    "JSON_QUERY JSON_QUERY", "string, string, symbol, symbol?, symbol?, symbol?", STRING, _query,
    "The JSON at a path, as a string.", difference=_PATH, nulls="always",
)  # fmt: skip

# --- Making -----------------------------------------------------------------------------------

_DOUBLES = (
    "Numbers that are not finite are strings. In arrays, maps and rows, very large and very small "
    "ones are written as Java's Double.toString does."
)


def _quoted(text: Column) -> Column:
    """Return a string as a JSON string: what Spark writes in an array, without the brackets."""
    array = F.to_json(F.array(text))
    return F.when(text.isNotNull(), F.substring(array, F.lit(2), F.length(array) - 2))


def _json_of(column: Column, data_type: DataType) -> Column:
    """Return the JSON of a value; null for null."""
    if isinstance(data_type, STRINGS):
        return _quoted(column)
    if isinstance(data_type, (NumericType, BooleanType)):
        return _number(column, data_type)
    if isinstance(data_type, BYTES):
        return _quoted(F.base64(column))
    if isinstance(data_type, TIMESTAMPS):
        return _time(column, data_type)
    if isinstance(data_type, ArrayType):
        element = data_type.element_type
        texts = F.transform(column, lambda value: _or_null(_json_of(value, element)))
        return F.concat(F.lit("["), F.array_join(texts, ","), F.lit("]"))
    if isinstance(data_type, RowType):
        members = [
            F.concat(
                _quoted(F.lit(field.name)),
                F.lit(":"),
                _or_null(_json_of(column.getField(field.name), field.data_type)),
            )
            for field in data_type.fields
        ]
        text = F.concat(F.lit("{"), F.concat_ws(",", *members), F.lit("}"))
        return F.when(column.isNotNull(), text)
    if isinstance(data_type, (MapType, MultisetType)):
        return _map(column, data_type)
    if data_type == DataTypes.NULL():
        return F.lit(None).cast("string")
    raise TableException(f"a value of type {data_type.sql} cannot be written as JSON")


def _number(column: Column, data_type: DataType) -> Column:
    if not is_floating(data_type):
        return column.cast("string")
    text = column.cast("double").cast("string")
    return F.when(_is_finite(column), text).otherwise(_quoted(text))


def _is_finite(column: Column) -> Column:
    return ~(F.isnan(column) | (F.abs(column) == float("inf")))


def _time(column: Column, data_type: TimestampType | LocalZonedTimestampType) -> Column:
    if isinstance(data_type, LocalZonedTimestampType):
        column = in_utc(column)
    shown = formatted(column, DataTypes.TIMESTAMP(data_type.precision))
    text = F.replace(shown, F.lit(" "), F.lit("T"))
    if data_type.precision:
        # Zeros at the end of a second's fraction are left out.
        text = F.regexp_replace(text, r"\.?0+$", "")
        text = F.regexp_replace(text, r"^(.*T?\d\d:\d\d)(:\d?)?$", "$1")
    if isinstance(data_type, LocalZonedTimestampType):
        text = F.concat(text, F.lit("Z"))
    return _quoted(text)


def _map(column: Column, data_type: MapType | MultisetType) -> Column:
    value_type: DataType = DataTypes.INT()
    if isinstance(data_type, MultisetType):
        key_type = data_type.element_type
    else:
        key_type, value_type = data_type.key_type, data_type.value_type
    if not isinstance(key_type, STRINGS):
        raise TableException(f"JSON has no keys of type {key_type.sql}; cast them to STRING")
    texts = F.transform(
        F.map_entries(column),
        lambda entry: F.concat(
            _quoted(entry.getField("key")),
            F.lit(":"),
            _or_null(_json_of(entry.getField("value"), value_type)),
        ),
    )
    return F.concat(F.lit("{"), F.array_join(texts, ","), F.lit("}"))


def _or_null(text: Column) -> Column:
    return F.coalesce(text, F.lit("null"))


_JSON = ("JSON", "JSON_OBJECT", "JSON_ARRAY")


def _is_made(node: Node) -> bool:
    """Return whether a value is JSON, which is inserted without being quoted."""
    return isinstance(node, Call) and (
        node.function.name in _JSON
        or node.function.name.startswith(("JSON_OBJECTAGG", "JSON_ARRAYAGG"))
    )


def _inserted(a: Arguments, position: int) -> Column:
    column, data_type = a[position], a.types[position]
    if _is_made(a.nodes[position]):
        return column
    text = _json_of(column, data_type)
    if is_floating(data_type) or isinstance(data_type, DecimalType):
        # Others, and those that are not finite, are not changed by BigDecimal's form.
        plain = text.rlike(r'^(-?[0-9]{1,7}[.][0-9]{1,4}|".*")$')
        return F.when(plain, text).otherwise(in_python(json_values.number, STRING)(text))
    return text


define(
    "JSON", "string", STRING,
    lambda a: in_python(json_values.checked_json, STRING)(a[0]),
    "Inserts a string that is JSON into other JSON without quoting it.",
    difference="White space in it is left out.", nulls="always",
)  # fmt: skip
define(
    "JSON_STRING JSON_STRING", "any", STRING, lambda a: _inserted(a, 0),
    "The JSON of a value.", difference=_DOUBLES,
)  # fmt: skip


def on_null(a: Arguments) -> str:
    """Return how nulls are written as JSON: NULL or ABSENT."""
    symbol = a.symbol(0)
    if symbol is not None:
        return str(symbol.name)
    return "NULL" if a.function.name.endswith("_NULL_ON_NULL") else "ABSENT"


def _keeps_nulls(a: Arguments) -> bool:
    return on_null(a) == "NULL"


def _joined(a: Arguments, members: list[Column], brackets: str) -> Column:
    shown = [_or_null(member) if _keeps_nulls(a) else member for member in members]
    inner = F.concat_ws(",", *shown) if shown else F.lit("")
    return F.concat(F.lit(brackets[0]), inner, F.lit(brackets[1]))


def _object(a: Arguments) -> Column:
    if len(a) % 2 == 0:
        raise a.fail("keys and values must alternate")
    members = []
    for position in range(1, len(a), 2):
        key = a.constant(position)
        if not isinstance(key, str):
            raise a.fail("the keys must be string literals")
        value = _inserted(a, position + 1)
        value = _or_null(value) if _keeps_nulls(a) else value
        members.append(F.concat(_quoted(F.lit(key)), F.lit(":"), value))
    return _joined(a, members, "{}")


define(
    "JSON_OBJECT JSON_OBJECT", "symbol, any...", STRING, _object,
    "The JSON object of alternating keys and values.", nulls="never",
    difference=_DOUBLES,
)  # fmt: skip
define(
    "JSON_ARRAY JSON_ARRAY", "symbol, any...", STRING,
    lambda a: _joined(a, [_inserted(a, position) for position in range(1, len(a))], "[]"),
    "The JSON array of the values.", nulls="never", difference=_DOUBLES,
)  # fmt: skip

# --- Aggregates -------------------------------------------------------------------------------


def _aggregated(
    build: Callable[[Arguments, Aggregated], Column],
) -> Callable[[Arguments], Column]:
    return lambda a: build(a, a.scope.aggregated(a.distinct))


def _collected(column: Column, over: Aggregated) -> Column:
    """Return the array of all strings, including nulls."""
    rows = over(F.collect_list(F.struct(column.alias("text"))))
    return F.transform(rows, lambda row: row.getField("text"))


def member_of_object(a: Arguments) -> tuple[Column, Column]:
    """Return what JSON_OBJECTAGG collects from a row: a key, and the JSON of a value or null."""
    return a[0], _inserted(a, 1)


def element_of_array(a: Arguments) -> Column:
    """Return the JSON that JSON_ARRAYAGG collects from a row; null for none."""
    text = _inserted(a, 0)
    return _or_null(text) if _keeps_nulls(a) else text


def _object_of_rows(a: Arguments, over: Aggregated) -> Column:
    function = partial(json_values.joined_object, on_null=on_null(a))
    keys, values = (_collected(each, over) for each in member_of_object(a))
    return in_python(function, STRING)(keys, values)


def _array_of_rows(a: Arguments, over: Aggregated) -> Column:
    texts = _collected(element_of_array(a), over)
    return F.concat(F.lit("["), F.array_join(texts, ","), F.lit("]"))


_ROWS = "Values are in no fixed order, unless the rows are."
for _clause, _nulls in (("NULL_ON_NULL", "null in JSON"), ("ABSENT_ON_NULL", "left out")):
    define(
        f"JSON_OBJECTAGG_{_clause} JSON_OBJECTAGG", "string, any", STRING,
        _aggregated(_object_of_rows),
        f"The JSON of an object with the keys and values of all rows; nulls are {_nulls}.",
        nulls="never", difference=_ROWS, aggregate=True,
    )  # fmt: skip
    define(
        f"JSON_ARRAYAGG_{_clause} JSON_ARRAYAGG", "any", STRING, _aggregated(_array_of_rows),
        f"The JSON of an array of the values of all rows; nulls are {_nulls}.", nulls="never",
        difference=_ROWS, aggregate=True,
    )  # fmt: skip
