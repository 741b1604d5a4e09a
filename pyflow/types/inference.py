"""The types of Python values: of literals, and of rows that a table is made of."""

from __future__ import annotations

import ctypes
import datetime
import decimal
from array import array
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from pyflow.common.types import Row
from pyflow.types import logical_types as types
from pyflow.types.internal_values import row_values
from pyflow.types.logical_types import MAX_LENGTH, DataType, RowField, RowType
from pyflow.types.parts import types_in
from pyflow.types.values import rounded_decimal

# --- Literals ---------------------------------------------------------------------------------


def infer(value: Any) -> DataType:
    """Return the type of a literal, as ``lit(value)`` has it.

    Parameters
    ----------
    value
        None, or a value of a type that Python has for literals. A number has the smallest type
        that holds it, a string the ``CHAR`` of its length.

    Raises
    ------
    TypeError
        If there are no literals of its type.
    ValueError
        If it is a whole number of more than 64 bits.
    """
    if value is None:
        return types.NullType()
    of_type = _LITERALS.get(type(value))
    if of_type is None:
        raise TypeError(f"there is no literal of {type(value)}: {value!r}")
    return of_type(value).not_null()


def _of_int(value: int) -> DataType:
    for data_type in (types.IntType, types.BigIntType):
        if -(1 << data_type.BITS - 1) <= value < 1 << data_type.BITS - 1:
            return data_type()
    raise ValueError(f"{value} has more than 64 bits; use a decimal.Decimal")


def _of_text(value: str) -> DataType:
    # Flink counts what Java calls characters: two for a code point above U+FFFF.
    return _of_length(types.CharType(), len(value.encode("utf-16-le", "surrogatepass")) // 2)


def _of_length(data_type: DataType, length: int) -> DataType:
    # Only a literal can have no length: nothing else is a CHAR(0) or a BINARY(0).
    return data_type._with(length=length)


def _of_decimal(value: decimal.Decimal) -> DataType:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(f"{value} is no number of a DECIMAL")
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale + 1)
    return types.DecimalType(precision, scale)


_LITERALS: dict[type, Callable[[Any], DataType]] = {
    bool: lambda _: types.BooleanType(),
    int: _of_int,
    float: lambda _: types.DoubleType(),
    str: _of_text,
    bytes: lambda value: _of_length(types.BinaryType(), len(value)),
    bytearray: lambda value: _of_length(types.BinaryType(), len(value)),
    decimal.Decimal: _of_decimal,
    datetime.date: lambda _: types.DateType(),
    datetime.datetime: lambda _: types.TimestampType(6),
    datetime.time: lambda _: types.TimeType(),
    datetime.timedelta: lambda _: types.DayTimeIntervalType(
        types.DayTimeIntervalType.DayTimeResolution.SECOND, fractional_precision=3
    ),
}

# --- Rows -------------------------------------------------------------------------------------

_VALUES: dict[type, DataType] = {
    bool: types.BooleanType(),
    int: types.BigIntType(),
    float: types.DoubleType(),
    str: types.VarCharType(MAX_LENGTH),
    bytearray: types.VarBinaryType(MAX_LENGTH),
    decimal.Decimal: types.DecimalType(38, 18),
    datetime.date: types.DateType(),
    datetime.datetime: types.LocalZonedTimestampType(),
    datetime.time: types.TimeType(),
}
_SIGNED_ARRAYS: dict[str, type] = {
    "b": ctypes.c_byte,
    "h": ctypes.c_short,
    "i": ctypes.c_int,
    "l": ctypes.c_long,
}


def infer_rows(elements: Sequence[Any], names: list[str] | None = None) -> RowType:
    """Return the type of rows of which a table is made, as ``from_elements`` does.

    Parameters
    ----------
    elements : sequence
        Rows: `Row`, tuples, lists, dicts, or objects with attributes.
    names : list of str, optional
        The names of fields that have none; missing ones are ``_1``, ``_2`` and so on.

    Raises
    ------
    ValueError
        If there are no elements, or only None in a field.
    TypeError
        If two rows have different types for a field, or a value has no type.
    """
    if not elements:
        raise ValueError("no type can be inferred from no rows; give the schema")
    row_type = reduce(_merged, (_of_row(row, names) for row in elements))
    unknown = [
        field.name
        for field in row_type
        if any(isinstance(each, types.NullType) for each in types_in(field.data_type))
    ]
    if unknown:
        raise ValueError(f"the types of {unknown} cannot be inferred from None; give the schema")
    return row_type


def _of_row(row: Any, names: list[str] | None) -> RowType:
    if isinstance(row, dict):
        items: Any = sorted(row.items())
    elif hasattr(row, "_fields"):
        items = zip(row._fields, tuple(row))
    elif isinstance(row, (Row, tuple, list)):
        missing = (f"_{position + 1}" for position in range(len(names or ()), len(row)))
        items = zip([*(names or ()), *missing], row)
    elif hasattr(row, "__dict__"):
        items = sorted(row.__dict__.items())
    else:
        raise TypeError(f"no type of a row can be inferred from {row!r} of {type(row)}")
    return RowType([RowField(name, _of_value(value)) for name, value in items])


def _of_value(value: Any) -> DataType:
    if value is None:
        return types.NullType()
    if hasattr(value, "__UDT__"):
        user_defined: DataType = value.__UDT__
        return user_defined
    if type(value) in _VALUES:
        return _VALUES[type(value)]
    if isinstance(value, dict):
        for key, element in value.items():
            if key is not None and element is not None:
                return types.MapType(_of_value(key).not_null(), _of_value(element))
        return types.MapType(types.NullType(), types.NullType())
    if isinstance(value, list):
        first = next((element for element in value if element is not None), None)
        return types.ArrayType(_of_value(first))
    if isinstance(value, array):
        return types.ArrayType(_of_array(value).not_null())
    try:
        return _of_row(value, None)
    except TypeError:
        raise TypeError(f"no type can be inferred from {value!r} of {type(value)}") from None


def _of_array(value: array[Any]) -> DataType:
    code = value.typecode
    if code in ("f", "d"):
        return types.FloatType() if code == "f" else types.DoubleType()
    if code == "u":
        return types.CharType(ctypes.sizeof(ctypes.c_wchar))
    c_type = _SIGNED_ARRAYS.get(code.lower())
    if c_type is not None:
        # An unsigned number needs one bit more than the signed types of the JVM have.
        bits = ctypes.sizeof(c_type) * 8 + code.isupper()
        for data_type in (types.TinyIntType, types.SmallIntType, types.IntType, types.BigIntType):
            if bits <= data_type.BITS:
                return data_type()
    raise TypeError(f"no type can be inferred from an array of typecode {code!r}")


def _merged(left: Any, right: Any, where: str = "") -> Any:
    if isinstance(left, types.NullType):
        return right
    if isinstance(right, types.NullType):
        return left
    if type(left) is not type(right):
        other = None if right is None else right.sql
        raise TypeError(f"{where or 'the rows'} cannot be both {left.sql} and {other}")
    if isinstance(left, RowType):
        inside = f" in {where}" if where else ""
        others = {field.name: field.data_type for field in right}
        fields = [
            RowField(
                field.name,
                _merged(
                    field.data_type,
                    others.pop(field.name, None),
                    f"field {field.name}{inside}",
                ),
            )
            for field in left
        ]
        return RowType([*fields, *(RowField(name, other) for name, other in others.items())])
    if isinstance(left, (types.ArrayType, types.MultisetType)):
        element = _merged(left.element_type, right.element_type, f"an element of {where}")
        return type(left)(element)
    if isinstance(left, types.MapType):
        key = _merged(left.key_type, right.key_type, f"a key of {where}")
        return types.MapType(key, _merged(left.value_type, right.value_type, f"a value of {where}"))
    return left


# --- Values against types ---------------------------------------------------------------------

Verifier = Callable[[Any], None]

_ACCEPTED: dict[type[DataType], tuple[type, ...]] = {
    types.BooleanType: (bool,),
    types.TinyIntType: (int,),
    types.SmallIntType: (int,),
    types.IntType: (int,),
    types.BigIntType: (int,),
    types.FloatType: (float,),
    types.DoubleType: (float,),
    types.DecimalType: (decimal.Decimal,),
    types.CharType: (str,),
    types.VarCharType: (str,),
    types.BinaryType: (bytearray, bytes),
    types.VarBinaryType: (bytearray, bytes),
    types.DateType: (datetime.date, datetime.datetime),
    types.TimeType: (datetime.time,),
    types.TimestampType: (datetime.datetime,),
    types.DayTimeIntervalType: (datetime.timedelta,),
    types.LocalZonedTimestampType: (datetime.datetime,),
    types.ZonedTimestampType: (datetime.datetime,),
    types.ArrayType: (list, tuple, array),
    types.MultisetType: (list, tuple, dict),
    types.MapType: (dict,),
}


def verifier(data_type: DataType, name: str | None = None) -> Verifier:
    """Return a function that raises if a value is not of a type.

    Parameters
    ----------
    data_type : DataType
        The type.
    name : str, optional
        What the values are, for the messages.

    Returns
    -------
    callable
        It raises TypeError for a value of another Python type, and ValueError for one out of the
        type's range or length, or None where the type has none.
    """
    check = _check_of(data_type, name or "value")

    def verify(value: Any) -> None:
        if value is not None:
            check(value)
        elif not data_type._nullable:
            raise ValueError(f"{name or 'value'} is None, but its type is {data_type.sql}")

    return verify


def _check_of(data_type: DataType, name: str) -> Verifier:
    if isinstance(data_type, RowType):
        return _row_check(data_type, name)
    if isinstance(data_type, types.UserDefinedType):
        return _user_defined_check(data_type, name)
    if isinstance(data_type, types.RawType):
        return lambda value: None
    accepted = _ACCEPTED.get(type(data_type))
    if accepted is None:
        raise TypeError(f"{name} cannot be of type {data_type.sql}")
    inside = _content_check(data_type, name)

    def check(value: Any) -> None:
        if type(value) not in accepted:
            raise TypeError(f"{name} is {value!r} of {type(value)}, which is no {data_type.sql}")
        inside(value)

    return check


def _content_check(data_type: DataType, name: str) -> Verifier:
    condition = partial(_condition, data_type, name)
    if isinstance(data_type, types.IntegralType):
        bound = 1 << data_type.BITS - 1
        return condition("is out of range of", lambda value: -bound <= value < bound)
    if isinstance(data_type, types.DecimalType):
        return condition(
            "does not fit into", lambda value: rounded_decimal(value, data_type) is not None
        )
    if isinstance(data_type, (types.CharType, types.BinaryType)):
        length = data_type.length
        return condition("is longer or shorter than", lambda value: len(value) == length)
    if isinstance(data_type, (types.VarCharType, types.VarBinaryType)):
        length = data_type.length
        return condition("is longer than", lambda value: len(value) <= length)
    if isinstance(data_type, (types.ArrayType, types.MultisetType)):
        element = verifier(data_type.element_type, f"an element of {name}")

        def check_elements(value: Any) -> None:
            for inside in value:
                element(inside)

        return check_elements
    if isinstance(data_type, types.MapType):
        key = verifier(data_type.key_type, f"a key of {name}")
        element = verifier(data_type.value_type, f"a value of {name}")

        def check_entries(value: dict[Any, Any]) -> None:
            for inner_key, inside in value.items():
                key(inner_key)
                element(inside)

        return check_entries
    return lambda value: None


def _condition(
    data_type: DataType, name: str, otherwise: str, holds: Callable[[Any], bool]
) -> Verifier:
    def check(value: Any) -> None:
        if not holds(value):
            raise ValueError(f"{name} is {value!r}, which {otherwise} {data_type.sql}")

    return check


def _row_check(row_type: RowType, name: str) -> Verifier:
    inside = "" if name == "value" else f" in {name}"
    fields = [verifier(field.data_type, f"field {field.name}{inside}") for field in row_type]
    names = row_type.names

    def check(value: Any) -> None:
        try:
            _, values = row_values(value, names)
        except ValueError:
            raise TypeError(
                f"{name} is {value!r} of {type(value)}, which is no {row_type.sql}"
            ) from None
        if len(values) != len(fields):
            raise ValueError(
                f"{name} has {len(values)} values, but {row_type.sql} has {len(fields)}"
            )
        for field, inner in zip(fields, values):
            field(inner)

    return check


def _user_defined_check(data_type: types.UserDefinedType, name: str) -> Verifier:
    kept = verifier(data_type.sql_type(), name)

    def check(value: Any) -> None:
        if getattr(value, "__UDT__", None) != data_type:
            raise ValueError(f"{name} is {value!r}, which is no object of {data_type!r}")
        kept(data_type.serialize(value))

    return check
