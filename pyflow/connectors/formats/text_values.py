"""Conversion between values of Flink's types and strings, as in JSON and CSV.

A string that is not a valid value of its type raises an error with table, column and string. If the
table ignores such errors, it becomes null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pyflow.table.columns.time_values import format_time, local_of_micros, of_precision
from pyflow.types.logical_types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column

TEXTS = (CharType, VarCharType)
INTEGERS = (TinyIntType, SmallIntType, IntType, BigIntType)
BYTES = (BinaryType, VarBinaryType)
_READ = (
    *TEXTS,
    *INTEGERS,
    *BYTES,
    BooleanType,
    DecimalType,
    FloatType,
    DoubleType,
    DateType,
    TimeType,
    TimestampType,
    LocalZonedTimestampType,
)

_DATE = r"\d{4}-\d{2}-\d{2}"
_TIME = r"\d{2}:\d{2}:\d{2}(\.\d{0,9})?"
_ISO_TIME = r"\d{2}:\d{2}(:\d{2}(\.\d{0,9})?)?"
_SHORT_DATE = r"\d{4}-\d{1,2}-\d{1,2}"
_SECONDS = len("yyyy-MM-dd HH:mm:ss")
_MICROSECONDS = 6


@dataclass(frozen=True)
class TextValues:
    """How a format writes values as strings.

    Parameters
    ----------
    table
        The table, for errors.
    format
        The format, for errors.
    lenient
        Whether an invalid string becomes null.
    iso
        Whether ``T`` separates date and time, instead of a space.
    fractions
        Whether a number with a fraction is accepted as an integer, without the fraction.
    short_times
        Whether months and days may have one digit, a time no seconds, and spaces may be around.
    """

    table: str
    format: str
    lenient: bool = False
    iso: bool = False
    fractions: bool = False
    short_times: bool = False

    def check(self, data_type: DataType, name: str) -> None:
        """Raise an error for a type whose values cannot be converted from a string."""
        if not isinstance(data_type, _READ):
            raise TableException(
                f"Table {self.table}: column {name!r} has the type {data_type.sql}, which the "
                f"format {self.format!r} does not have here."
            )

    def read(self, text: Column, data_type: DataType, name: str) -> Column:
        """Return the value in a string.

        Parameters
        ----------
        text
            The string.
        data_type
            The type; not a row, array or map.
        name
            The column's name, for errors.
        """
        if isinstance(data_type, TEXTS):
            return text
        if isinstance(data_type, BooleanType):
            return F.lower(F.trim(text)) == "true"
        if isinstance(data_type, DecimalType):
            # A number with too many digits is null, as in Flink.
            number = F.trim(text)
            made = number.try_cast(to_spark(data_type))
            wrong = number.try_cast("double").isNull()
            return self._checked(text, made, data_type, name, wrong)
        self.check(data_type, name)
        return self._checked(text, self._made(text, data_type), data_type, name)

    def _checked(
        self,
        text: Column,
        made: Column,
        data_type: DataType,
        name: str,
        wrong: Column | None = None,
    ) -> Column:
        """Return a value that was converted from a string, or an error if that is not possible."""
        if self.lenient:
            return made
        message = (
            f"Table {self.table}: column {name!r} of type {data_type.sql} cannot be read from "
            f"{self.format}, since its value is not of that type: "
        )
        error = F.raise_error(F.concat(F.lit(message), F.substring(text, 1, 500)))
        is_wrong = text.isNotNull() if wrong is None else text.isNotNull() & wrong
        return F.coalesce(made, F.when(is_wrong, error))

    def _made(self, text: Column, data_type: DataType) -> Column:
        """Return the value in a string; null for an invalid one."""
        wanted = to_spark(data_type)
        trimmed = F.trim(text)
        if isinstance(data_type, INTEGERS):
            made = trimmed.try_cast(wanted)
            if self.fractions:
                whole = trimmed.try_cast("double")
                made = F.coalesce(made, F.when(F.abs(whole) < 1 << 53, whole).try_cast(wanted))
            return made
        if isinstance(data_type, (FloatType, DoubleType)):
            return trimmed.try_cast(wanted)
        if isinstance(data_type, BYTES):
            return F.try_to_binary(text, F.lit("base64"))
        if isinstance(data_type, DateType):
            date = _SHORT_DATE if self.short_times else _DATE
            return F.when(text.rlike(f"^{date}$"), text).try_cast(wanted)
        if isinstance(data_type, TimeType):
            time = _ISO_TIME if self.short_times else _TIME
            return F.when(text.rlike(f"^{time}$"), text).try_cast(wanted)
        text = trimmed if self.short_times else text
        moment = f"{_DATE}T{_ISO_TIME}" if self.iso else f"{_DATE} {_TIME}"
        if isinstance(data_type, TimestampType):
            # Digits of the second that the type does not have are left out before it is read.
            digits = data_type.precision
            kept = F.substring(text, 1, _SECONDS + digits + 1 if digits else _SECONDS)
            return F.when(text.rlike(f"^{moment}$"), kept).try_cast("timestamp_ntz")
        assert isinstance(data_type, LocalZonedTimestampType)
        made = F.when(text.rlike(f"^{moment}Z$"), text).try_cast("timestamp")
        return of_precision(made, data_type)

    def written(self, value: Column, data_type: DataType) -> Column:
        """Return the value with each date, time and timestamp in it as a string."""
        return mapped(value, data_type, self._written)

    def _written(self, value: Column, data_type: DataType, _name: str) -> Column:
        between = "'T'" if self.iso else " "
        pattern = f"yyyy-MM-dd{between}HH:mm:ss.SSSSSS"
        if isinstance(data_type, TimestampType):
            return _shortest(format_time(value, TimestampType(_MICROSECONDS), pattern))
        if isinstance(data_type, LocalZonedTimestampType):
            local = local_of_micros(F.unix_micros(value))
            text = _shortest(format_time(local, TimestampType(_MICROSECONDS), pattern))
            return F.concat(text, F.lit("Z"))
        if isinstance(data_type, (DateType, TimeType)):
            return value.cast("string")
        return value


def mapped(
    value: Column,
    data_type: DataType,
    leaf: Callable[[Column, DataType, str], Column],
    name: str = "",
) -> Column:
    """Return a value with a function applied to what is neither a row, an array nor a map.

    The function takes such a part of the value, its type and its name: `name`, and those of fields.
    """
    if isinstance(data_type, RowType):
        parts = (
            mapped(value.getField(part.name), part.data_type, leaf, f"{name}.{part.name}").alias(
                part.name
            )
            for part in data_type.fields
        )
        return F.when(value.isNotNull(), F.struct(*parts))
    if isinstance(data_type, ArrayType):
        element = data_type.element_type
        return F.transform(value, lambda each: mapped(each, element, leaf, name))
    if isinstance(data_type, (MapType, MultisetType)):
        of_value = entry(data_type)[1]
        return F.transform_values(value, lambda _, each: mapped(each, of_value, leaf, name))
    return leaf(value, data_type, name)


def _shortest(text: Column) -> Column:
    """Return a time, as a string, without zeros at the end of the second's fraction."""
    return F.regexp_replace(text, r"\.?0*$", "")


def entry(data_type: MapType | MultisetType) -> tuple[DataType, DataType]:
    """Return the types of key and value of a map, or of a multiset's elements and counts."""
    if isinstance(data_type, MapType):
        return data_type.key_type, data_type.value_type
    return data_type.element_type, IntType()
