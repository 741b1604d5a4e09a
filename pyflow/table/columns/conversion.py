"""Values as values of another type: Flink's CAST and TRY_CAST, and what is converted unasked."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from pyflow.table.columns import bitmaps
from pyflow.table.columns.arithmetic import is_floating, wrapped, wrapped_decimal
from pyflow.table.columns.time_strings import read_date, read_timestamp
from pyflow.table.columns.time_values import (
    date_of,
    formatted,
    local_of_micros,
    of_precision,
    shortened,
)
from pyflow.table.columns.times_of_day import micros_of_time, time_of_local
from pyflow.table.columns.type_rules import BYTES, INTERVALS, STRINGS, TIMESTAMPS, same
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import (
    MAX_LENGTH,
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
    IntegralType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    NumericType,
    RowType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException


def convert(column: Column, source: DataType, target: DataType, tolerant: bool = False) -> Column:
    """Return a value as one of another type.

    Parameters
    ----------
    column, source
        The value, and its type.
    target
        The type that it gets.
    tolerant
        Whether a string that is not a value of that type becomes null, or fails the query.

    Raises
    ------
    TableException
        If there is no conversion between the types.
    """
    if same(source, target):
        return column
    if isinstance(source, NullType):
        return column.cast(to_spark(target))
    converted = _conversion(column, source, target, tolerant)
    if converted is None:
        raise TableException(
            f"Unsupported cast from '{source.nullable().sql}' to '{target.nullable().sql}'."
        )
    return converted


def _conversion(
    column: Column, source: DataType, target: DataType, tolerant: bool
) -> Column | None:
    if isinstance(target, STRINGS):
        return _limited(as_text(column, source), target.length, isinstance(target, CharType))
    if isinstance(source, STRINGS):
        return _parsed(column, target, tolerant)
    if isinstance(source, NumericType):
        return _of_number(column, source, target)
    if isinstance(source, BooleanType) and isinstance(target, NumericType):
        return column.cast(to_spark(target))
    if isinstance(source, BYTES) and isinstance(target, BYTES):
        return _of_bytes(column, target.length, isinstance(target, BinaryType))
    if isinstance(source, BitmapType):
        return bitmaps.to_bytes(column) if same(target, DataTypes.BYTES()) else None
    if isinstance(source, (DateType, TimeType, *TIMESTAMPS)):
        return _of_time(column, source, target)
    if isinstance(source, INTERVALS):
        return _of_interval(column, source, target)
    return _of_collection(column, source, target, tolerant)


# --- Numbers ----------------------------------------------------------------------------------


def _of_number(column: Column, source: DataType, target: DataType) -> Column | None:
    if isinstance(target, BooleanType):
        return column != 0
    if isinstance(target, DecimalType):
        return column.try_cast(to_spark(target))
    if is_floating(target):
        return column.cast(to_spark(target))
    if isinstance(target, IntegralType):
        return _whole(column, source, target)
    if isinstance(target, INTERVALS) and isinstance(source, IntegralType):
        return _interval(column, target)
    return None


def _whole(column: Column, source: DataType, target: IntegralType) -> Column:
    if isinstance(source, IntegralType):
        narrower = target.BITS < source.BITS
        return wrapped(column.cast("bigint"), target) if narrower else column.cast(to_spark(target))
    if isinstance(source, DecimalType):
        fits_64_bits = source.precision - source.scale <= 18
        if source.scale:
            column = F.when(column < 0, F.ceil(column)).otherwise(F.floor(column))
        value = column.cast("bigint") if fits_64_bits else wrapped_decimal(column)
        return wrapped(value, target)
    # The JVM takes the nearest whole number there is, first as INT where the type is smaller.
    via: IntegralType = target if isinstance(target, BigIntType) else IntType()
    greatest = (1 << via.BITS - 1) - 1
    value = column.cast("double")
    bounded = (
        F.when(F.isnan(value), F.lit(0))
        .when(value >= float(greatest), F.lit(greatest))
        .when(value <= float(-greatest - 1), F.lit(-greatest - 1))
        .otherwise(value.cast("bigint"))
        .cast("bigint")
    )
    return wrapped(bounded, target)


# --- Texts and bytes --------------------------------------------------------------------------


def _limited(text: Column, length: int, padded: bool) -> Column:
    if length == MAX_LENGTH:
        return text
    return F.rpad(text, length, " ") if padded else F.substring(text, 1, length)


def _of_bytes(column: Column, length: int, padded: bool) -> Column:
    if length == MAX_LENGTH:
        return column
    cut = F.substring(column, 1, length)
    return F.call_function("rpad", cut, F.lit(length), F.lit(b"\x00")) if padded else cut


def as_text(column: Column, source: DataType) -> Column:
    """Return a value as Flink casts it to STRING."""
    if isinstance(source, STRINGS):
        return column
    if isinstance(source, BooleanType):
        return F.upper(column.cast("string"))
    if isinstance(source, (TimeType, *TIMESTAMPS)):
        return formatted(column, source)
    if isinstance(source, YearMonthIntervalType):
        months = F.abs(column.cast(_MONTHS).cast("int"))
        negative = column.cast(_MONTHS).cast("int") < 0
        sign = F.when(negative, "-").otherwise("+")
        return F.concat(sign, divided_text(months, 12), F.lit("-"), F.lpad(months % 12, 2, "0"))
    if isinstance(source, DayTimeIntervalType):
        return _interval_text(column)
    if isinstance(source, BitmapType):
        return bitmaps.as_text(column)
    if isinstance(source, (ArrayType, MapType, MultisetType, RowType)):
        return _collection_text(column, source)
    return column.cast("string")


def divided_text(value: Column, divisor: int) -> Column:
    """Return a whole quotient as a string."""
    return F.call_function("div", value, F.lit(divisor)).cast("string")


def _interval_text(column: Column) -> Column:
    millis = F.abs(micros_of_interval(column))
    millis = F.call_function("div", millis, F.lit(1000))

    def part(unit: int, below: int, width: int) -> Column:
        text = (F.call_function("div", millis, F.lit(unit)) % below).cast("string")
        return F.lpad(text, width, "0")

    sign = F.when(micros_of_interval(column) < 0, "-").otherwise("+")
    days = divided_text(millis, 86_400_000)
    clock = F.concat_ws(":", part(3_600_000, 24, 2), part(60_000, 60, 2), part(1000, 60, 2))
    return F.concat(sign, days, F.lit(" "), clock, F.lit("."), part(1, 1000, 3))


def _collection_text(column: Column, source: DataType) -> Column:
    def shown(value: Column, data_type: DataType) -> Column:
        return F.coalesce(as_text(value, data_type), F.lit("NULL"))

    if isinstance(source, ArrayType):
        texts = F.transform(column, lambda value: shown(value, source.element_type))
        return F.concat(F.lit("["), F.array_join(texts, ", "), F.lit("]"))
    if isinstance(source, RowType):
        fields = [shown(column.getField(f.name), f.data_type) for f in source.fields]
        text = F.concat(F.lit("("), F.concat_ws(", ", *fields), F.lit(")"))
        return F.when(column.isNotNull(), text)
    value_type: DataType = DataTypes.INT()
    if isinstance(source, MultisetType):
        key_type = source.element_type
    else:
        assert isinstance(source, MapType)
        key_type, value_type = source.key_type, source.value_type
    texts = F.transform(
        F.map_entries(column),
        lambda entry: F.concat(
            shown(entry.getField("key"), key_type),
            F.lit("="),
            shown(entry.getField("value"), value_type),
        ),
    )
    return F.concat(F.lit("{"), F.array_join(texts, ", "), F.lit("}"))


def _parsed(column: Column, target: DataType, tolerant: bool) -> Column | None:
    # Spaces around a value are ignored, except in timestamps and in strings cast to bytes.
    whole = isinstance(target, (*BYTES, DateType, *TIMESTAMPS))
    value = _try_parse(column if whole else F.trim(column), target)
    if value is None or tolerant:
        return value
    message = F.concat(F.lit("cannot cast '"), column, F.lit(f"' to {target.nullable().sql}"))
    return F.coalesce(value, F.when(column.isNotNull(), F.raise_error(message)))


def _try_parse(text: Column, target: DataType) -> Column | None:
    if isinstance(target, IntegralType):
        # A fraction is dropped.
        whole = F.regexp_extract(text, r"^([+-]?[0-9]+)\.[0-9]*$", 1)
        return F.coalesce(text.try_cast(to_spark(target)), whole.try_cast(to_spark(target)))
    if is_floating(target):
        # Spark reads inf and infinity, too, in letters of any case.
        words = F.rlike(text, F.lit("[iInN]")) & ~F.rlike(text, F.lit("^[+-]?(Infinity|NaN)$"))
        return F.when(~words, text).try_cast(to_spark(target))
    if isinstance(target, (BooleanType, NumericType)):
        return text.try_cast(to_spark(target))
    if isinstance(target, DateType):
        return read_date(text)
    if isinstance(target, TimeType):
        return _try_parse_time(text, target)
    if isinstance(target, TIMESTAMPS):
        return of_precision(read_timestamp(text).cast(to_spark(target)), target)
    if isinstance(target, BYTES):
        encoded = text.cast("binary")
        return _of_bytes(encoded, target.length, isinstance(target, BinaryType))
    return None


def _try_parse_time(text: Column, target: TimeType) -> Column:
    padded = F.regexp_replace(text, r"(?<![0-9.])([0-9])(?![0-9])", "0$1")
    padded = F.regexp_replace(padded, r"^([0-9]{2})$", "$1:00")
    # Before 4.3, Spark keeps the whole fraction of a second in a TIME of any precision.
    return padded.try_cast("time(6)").cast(to_spark(target))


# --- Times ------------------------------------------------------------------------------------


def _of_time(column: Column, source: DataType, target: DataType) -> Column | None:
    if isinstance(target, TIMESTAMPS):
        if isinstance(source, TimeType):
            return local_of_micros(micros_of_time(column)).cast(to_spark(target))
        precise = isinstance(source, DateType) or _precision(source) <= target.precision
        if not precise and isinstance(source, TimestampType):
            column = shortened(column, target.precision)
        elif not precise:
            column = of_precision(column, LocalZonedTimestampType(target.precision))
        return column.cast(to_spark(target))
    if isinstance(source, DateType):
        return None
    if isinstance(target, DateType):
        if isinstance(source, TimestampType):
            return date_of(column, source)
        return None if isinstance(source, TimeType) else column.cast("date")
    if isinstance(target, TimeType):
        if isinstance(source, LocalZonedTimestampType):
            column = column.cast("timestamp_ntz")
        if isinstance(source, TimeType):
            return column.cast(to_spark(target))
        return time_of_local(column).cast(to_spark(target))
    return None


def _precision(data_type: DataType) -> int:
    return data_type.precision if isinstance(data_type, (TimeType, *TIMESTAMPS)) else 0


_MONTHS = spark.YearMonthIntervalType(1, 1)
_SECONDS = spark.DayTimeIntervalType(3, 3)


def micros_of_interval(interval: Column) -> Column:
    """Return the microseconds of an interval of days, hours, minutes or seconds."""
    return (interval.cast(_SECONDS).cast("decimal(18,6)") * 1_000_000).cast("bigint")


def _interval(column: Column, target: DataType) -> Column:
    if isinstance(target, YearMonthIntervalType):
        return F.make_ym_interval(F.lit(0), column.cast("int")).cast(to_spark(target))
    seconds = (column.cast("bigint") / 1000).cast("decimal(18,6)")
    return F.make_dt_interval(secs=seconds).cast(to_spark(target))


def _of_interval(column: Column, source: DataType, target: DataType) -> Column | None:
    months = isinstance(source, YearMonthIntervalType)
    if isinstance(target, INTERVALS):
        matching = months == isinstance(target, YearMonthIntervalType)
        return column.cast(to_spark(target)) if matching else None
    if isinstance(target, IntegralType):
        if months:
            return wrapped(column.cast(_MONTHS).cast("bigint"), target)
        return wrapped(F.call_function("div", micros_of_interval(column), F.lit(1000)), target)
    return None


# --- Collections ------------------------------------------------------------------------------


def _of_collection(
    column: Column, source: DataType, target: DataType, tolerant: bool
) -> Column | None:
    def inside(from_type: DataType, to_type: DataType) -> Callable[[Column], Column]:
        return lambda value: convert(value, from_type, to_type, tolerant)

    def lost(value: Column, from_type: DataType, to_type: DataType) -> Column:
        """Return whether a part cannot be converted: then there is nothing of the whole."""
        may_fail = tolerant and isinstance(from_type, (*STRINGS, ArrayType, MapType, RowType))
        if not may_fail:
            return F.lit(False)
        return value.isNotNull() & inside(from_type, to_type)(value).isNull()

    if isinstance(source, ArrayType) and isinstance(target, ArrayType):
        elements = (source.element_type, target.element_type)
        converted = F.transform(column, inside(*elements))
        failed = F.exists(column, lambda value: lost(value, *elements))
        return F.when(~failed, converted) if tolerant else converted
    if isinstance(source, MapType) and isinstance(target, MapType):
        keys, values = (source.key_type, target.key_type), (source.value_type, target.value_type)
        converted = F.transform_keys(column, lambda key, _: inside(*keys)(key))
        converted = F.transform_values(converted, lambda _, value: inside(*values)(value))
        failed = F.exists(
            F.map_entries(column),
            lambda entry: (
                lost(entry.getField("key"), *keys) | lost(entry.getField("value"), *values)
            ),
        )
        return F.when(~failed, converted) if tolerant else converted
    if isinstance(source, MultisetType) and isinstance(target, MultisetType):
        of_element = inside(source.element_type, target.element_type)
        return F.transform_keys(column, lambda key, _: of_element(key))
    if isinstance(source, RowType) and isinstance(target, RowType):
        if len(source.fields) != len(target.fields):
            return None
        fields = [
            convert(column.getField(old.name), old.data_type, new.data_type, tolerant).alias(
                new.name
            )
            for old, new in zip(source.fields, target.fields)
        ]
        there = column.isNotNull()
        for old, new in zip(source.fields, target.fields):
            there = there & ~lost(column.getField(old.name), old.data_type, new.data_type)
        return F.when(there, F.struct(*fields))
    return None
