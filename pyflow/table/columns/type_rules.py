"""Which types the results of operations have, as Flink derives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import (
    MAX_DECIMAL_PRECISION,
    ArrayType,
    BigIntType,
    BinaryType,
    BitmapType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    FractionalType,
    IntegralType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    NumericType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)
from pyflow.types.parts import parts_of, with_parts

STRINGS = (CharType, VarCharType)
BYTES = (BinaryType, VarBinaryType)
TIMESTAMPS = (TimestampType, LocalZonedTimestampType)
INTERVALS = (DayTimeIntervalType, YearMonthIntervalType)

SECONDS = DataTypes.INTERVAL(DataTypes.SECOND(3))
MONTHS = DataTypes.INTERVAL(DataTypes.MONTH())

_WHOLE = (TinyIntType, SmallIntType, IntType, BigIntType)
# Digits of the greatest number of each type.
_DIGITS: dict[type[DataType], int] = {TinyIntType: 3, SmallIntType: 5, IntType: 10, BigIntType: 19}


def with_nulls(data_type: DataType, *sources: DataType) -> DataType:
    """Return the type, nullable if one of the sources is."""
    if isinstance(data_type, NullType):
        return data_type
    nullable = any(source._nullable for source in sources)
    return data_type.nullable() if nullable else data_type.not_null()


def same(left: DataType, right: DataType) -> bool:
    """Return whether two types are the same, apart from their nullability."""
    return left.nullable() == right.nullable()


def decimal_of(data_type: DataType) -> DecimalType | None:
    """Return the DECIMAL that holds every value of a type of exact numbers; None for others."""
    if isinstance(data_type, DecimalType):
        return data_type
    digits = _DIGITS.get(type(data_type))
    return DecimalType(digits, 0) if digits else None


def adjusted(precision: int, scale: int) -> DecimalType:
    """Return the DECIMAL of at most 38 digits; its scale is reduced, but not below 6."""
    if precision > MAX_DECIMAL_PRECISION:
        scale = max(MAX_DECIMAL_PRECISION - (precision - scale), min(scale, 6))
        precision = MAX_DECIMAL_PRECISION
    return DecimalType(precision, scale)


def _sum_of_decimals(left: DecimalType, right: DecimalType) -> DecimalType:
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    return adjusted(whole + scale + 1, scale)


def _product_of_decimals(left: DecimalType, right: DecimalType) -> DecimalType:
    return adjusted(left.precision + right.precision + 1, left.scale + right.scale)


def _quotient_of_decimals(left: DecimalType, right: DecimalType) -> DecimalType:
    scale = max(6, left.scale + right.precision + 1)
    return adjusted(left.precision - left.scale + right.scale + scale, scale)


def _remainder_of_decimals(left: DecimalType, right: DecimalType) -> DecimalType:
    scale = max(left.scale, right.scale)
    whole = min(left.precision - left.scale, right.precision - right.scale)
    return adjusted(whole + scale, scale)


_DECIMALS: dict[str, Callable[[DecimalType, DecimalType], DecimalType]] = {
    "plus": _sum_of_decimals,
    "minus": _sum_of_decimals,
    "times": _product_of_decimals,
    "divide": _quotient_of_decimals,
    "mod": _remainder_of_decimals,
}


def arithmetic(operator: str, left: DataType, right: DataType) -> DataType | None:
    """Return the type of ``plus``, ``minus``, ``times``, ``divide`` or ``mod`` of two numbers."""
    left_decimal, right_decimal = decimal_of(left), decimal_of(right)
    any_decimal = isinstance(left, DecimalType) or isinstance(right, DecimalType)
    if left_decimal and right_decimal:
        if operator == "mod" and not left_decimal.scale and not right_decimal.scale:
            return with_nulls(right, left, right)
        if any_decimal:
            return with_nulls(_DECIMALS[operator](left_decimal, right_decimal), left, right)
    return common([left, right])


def common(types: Sequence[DataType]) -> DataType | None:
    """Return the type that values of all these types can have; None if there is none."""
    known = [data_type for data_type in types if not isinstance(data_type, NullType)]
    if not known:
        return DataTypes.NULL()

    def merge(left: DataType | None, right: DataType) -> DataType | None:
        return None if left is None else _common_of_two(left, right)

    first, *rest = known
    start: DataType | None = first
    found = reduce(merge, rest, start)
    return None if found is None else with_nulls(found, *types)


def in_sql(types: Sequence[DataType]) -> list[DataType] | None:
    """Return the types as SQL takes them to find their common type.

    Other than in the Table API a FLOAT beside a DECIMAL is a DOUBLE, a timestamp beside another one
    is of the kind of the first, and beside a date or a time of day there is none: None. The same
    holds inside arrays, maps and rows.
    """
    known = [data_type for data_type in types if not isinstance(data_type, NullType)]
    if known and all(_are_alike(known[0], each) for each in known):
        merged = [in_sql(parts) for parts in zip(*map(parts_of, known))]
        found = [each for each in merged if each is not None]
        if len(found) < len(merged):
            return None
        made = (with_nulls(with_parts(*pair), pair[0]) for pair in zip(known, zip(*found)))
        return [each if isinstance(each, NullType) else next(made) for each in types]
    stamps = [each for each in types if isinstance(each, TIMESTAMPS)]
    if stamps and any(isinstance(each, (DateType, TimeType)) for each in types):
        return None
    has_decimals = any(isinstance(each, DecimalType) for each in types)
    read: list[DataType] = []
    for each in types:
        if isinstance(each, FloatType) and has_decimals:
            read.append(with_nulls(DataTypes.DOUBLE(), each))
        elif isinstance(each, TIMESTAMPS) and isinstance(stamps[0], TimestampType):
            read.append(with_nulls(TimestampType(each.precision), each))
        else:
            read.append(each)
    return read


def common_in_sql(types: Sequence[DataType]) -> DataType | None:
    """Return the type that SQL gives values of all these types; None if there is none."""
    found = in_sql(types)
    return None if found is None else common(found)


def takes(declared: DataType, given: DataType) -> bool:
    """Return whether a function takes a value of a type for an argument that it declares.

    Inside of arrays, maps and rows the same rules hold; fields are compared by position.
    """
    if _are_alike(declared, given):
        return all(takes(*each) for each in zip(parts_of(declared), parts_of(given)))
    beyond_common = any(
        isinstance(declared, one) and isinstance(given, other)
        for one, other in (
            (CharType, CharType),
            (BinaryType, BinaryType),
            (DecimalType, (FloatType, DoubleType)),
            (TimestampType, LocalZonedTimestampType),
        )
    )
    return beyond_common or type(common([given, declared])) is type(declared)


def _are_alike(left: DataType, right: DataType) -> bool:
    """Return whether two types are of one kind and have as many types inside, some at least."""
    parts = parts_of(left)
    return bool(parts) and type(left) is type(right) and len(parts) == len(parts_of(right))


def _common_of_two(left: DataType, right: DataType) -> DataType | None:
    if same(left, right):
        return left
    for family, merged in _MERGED:
        if isinstance(left, family) and isinstance(right, family):
            return merged(left, right)
    return None


def _common_number(left: DataType, right: DataType) -> DataType:
    if isinstance(left, IntegralType) and isinstance(right, IntegralType):
        return max(left, right, key=lambda each: _WHOLE.index(type(each)))
    left_decimal, right_decimal = decimal_of(left), decimal_of(right)
    if left_decimal and right_decimal:
        scale = max(left_decimal.scale, right_decimal.scale)
        whole = max(
            left_decimal.precision - left_decimal.scale,
            right_decimal.precision - right_decimal.scale,
        )
        scale = min(scale, MAX_DECIMAL_PRECISION - whole)
        return DecimalType(whole + scale, scale)
    double = any(isinstance(each, DoubleType) for each in (left, right))
    # The order matters in Flink, too: of DECIMAL and FLOAT it takes FLOAT.
    double = double or (isinstance(left, FloatType) and isinstance(right, DecimalType))
    return DataTypes.DOUBLE() if double else DataTypes.FLOAT()


def _common_text(left: DataType, right: DataType) -> DataType:
    assert isinstance(left, STRINGS)
    assert isinstance(right, STRINGS)
    return VarCharType(max(left.length, right.length))


def _common_bytes(left: DataType, right: DataType) -> DataType:
    assert isinstance(left, BYTES)
    assert isinstance(right, BYTES)
    return VarBinaryType(max(left.length, right.length))


def _common_time(left: DataType, right: DataType) -> DataType | None:
    pair = (left, right)
    zoned = any(isinstance(each, LocalZonedTimestampType) for each in pair)
    # Of a TIMESTAMP and a part of it, its date or its time of day, it is the part.
    parts = [each for each in pair if not isinstance(each, TIMESTAMPS)]
    if parts:
        same_part = all(isinstance(each, type(parts[0])) for each in parts)
        return None if zoned or not same_part else max(parts, key=_precision)
    precision = max(map(_precision, pair))
    return LocalZonedTimestampType(precision) if zoned else TimestampType(precision)


TIMES = (DateType, TimeType, *TIMESTAMPS)

# Types whose values are compared with strings.
_WRITTEN = (BooleanType, NumericType, *TIMES)


def _precision(data_type: DataType) -> int:
    return getattr(data_type, "precision", 0)


def comparable(left: DataType, right: DataType, equality: bool = False) -> DataType | None:
    """Return the type as values of which two are compared; None if they cannot be compared.

    Dates and timestamps are compared as local times of the session's time zone, and a string as a
    number, a time or a BOOLEAN. As in Flink, only a time has an `equality` with a string.
    """
    for text, other in ((left, right), (right, left)):
        if isinstance(text, STRINGS) and isinstance(other, _WRITTEN):
            if equality and not isinstance(other, TIMES):
                return None
            return DataTypes.BIGINT() if isinstance(other, IntegralType) else other
    return _compared_as(left, right)


def _compared_as(left: DataType, right: DataType) -> DataType | None:
    if isinstance(left, TIMES) and isinstance(right, TIMES) and type(left) is not type(right):
        if isinstance(left, TimeType) or isinstance(right, TimeType):
            return None
        return TimestampType(max(_precision(left), _precision(right)))
    if {type(left), type(right)} == {DecimalType, FloatType}:
        return DataTypes.DOUBLE()
    if isinstance(left, _WITH_PARTS) and isinstance(right, _WITH_PARTS):
        return _of_parts(left, right, _compared_as)
    return common([left, right])


_WITH_PARTS = (ArrayType, MultisetType, MapType, RowType)


def _of_parts(
    left: DataType, right: DataType, merge: Callable[[DataType, DataType], DataType | None]
) -> DataType | None:
    """Return the type of two of one kind that have types inside, which are merged one by one."""
    if not _are_alike(left, right):
        return None
    merged = [merge(*pair) for pair in zip(parts_of(left), parts_of(right))]
    found = [each for each in merged if each is not None]
    return with_parts(left, found).nullable() if len(found) == len(merged) else None


_MERGED: tuple[tuple[tuple[type, ...], Callable[[DataType, DataType], DataType | None]], ...] = (
    ((NumericType,), _common_number),
    (STRINGS, _common_text),
    (BYTES, _common_bytes),
    (TIMES, _common_time),
    (_WITH_PARTS, lambda left, right: _of_parts(left, right, lambda *pair: common(pair))),
    ((DayTimeIntervalType,), lambda left, right: SECONDS),
    ((YearMonthIntervalType,), lambda left, right: MONTHS),
)

FAMILIES: dict[str, tuple[type, ...]] = {
    "any": (DataType,),
    "boolean": (BooleanType,),
    "numeric": (NumericType,),
    "exact": (IntegralType, DecimalType),
    "double": (NumericType,),
    "fractional": (FractionalType,),
    "int": (IntegralType,),
    "bigint": (IntegralType,),
    "string": STRINGS,
    "bytes": BYTES,
    "bitmap": (BitmapType,),
    "date": (DateType,),
    "time": (TimeType,),
    "timestamp": (TimestampType,),
    "timestamp_ltz": (LocalZonedTimestampType,),
    "interval": INTERVALS,
    "array": (ArrayType,),
    "map": (MapType, MultisetType),
    "row": (RowType,),
}
