"""Literals as columns of Spark."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from pyflow.table.columns.type_rules import STRINGS
from pyflow.types.logical_types import (
    ArrayType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
    TimeType,
    YearMonthIntervalType,
)
from pyflow.types.spark_types import to_spark


def literal(value: Any, data_type: DataType) -> Column:
    """Return the column of a value of Python."""
    spark = to_spark(data_type)
    if value is None:
        return F.lit(None).cast(spark)
    if isinstance(data_type, ArrayType):
        element = data_type.element_type
        return F.array(*(literal(each, element) for each in value)).cast(spark)
    if isinstance(data_type, (MapType, MultisetType)):
        return _map(value, data_type)
    if isinstance(data_type, RowType):
        return _row(value, data_type)
    if isinstance(data_type, STRINGS):
        text = str(value)
        if isinstance(data_type, CharType):
            # As in its type, characters beyond U+FFFF count as two.
            beyond = sum(character > "\uffff" for character in text)
            text = text.ljust(data_type.length - beyond)
        return F.lit(text)
    if isinstance(data_type, YearMonthIntervalType):
        return F.make_ym_interval(F.lit(0), F.lit(int(value))).cast(spark)
    if isinstance(data_type, DayTimeIntervalType):
        return F.lit(value).cast(spark)
    if isinstance(data_type, LocalZonedTimestampType):
        return F.lit(_instant(value)).cast(spark)
    if isinstance(data_type, (DateType, TimestampType, TimeType)):
        # As a text: Spark takes Python's datetime for one in the session's time zone, and a date
        # for one of Java's calendar, which leaves out days of 1582.
        return F.lit(str(value)).cast(spark)
    return F.lit(bytes(value) if isinstance(value, bytearray) else value).cast(spark)


def _instant(value: Any) -> str:
    if not isinstance(value, datetime.datetime):
        return str(value)
    if value.tzinfo is None:
        # In the session's time zone, as Flink takes it.
        return value.isoformat(" ")
    return value.astimezone(datetime.timezone.utc).isoformat(" ")


def _map(value: Mapping[Any, Any], data_type: MapType | MultisetType) -> Column:
    if isinstance(data_type, MultisetType):
        key_type, value_type = data_type.element_type, None
    else:
        key_type, value_type = data_type.key_type, data_type.value_type
    entries: list[Column] = []
    for key, inner in value.items():
        entries.append(literal(key, key_type))
        entries.append(F.lit(int(inner)) if value_type is None else literal(inner, value_type))
    return F.create_map(*entries).cast(to_spark(data_type))


def _row(value: Any, data_type: RowType) -> Column:
    return F.struct(
        *(
            literal(inner, field.data_type).alias(field.name)
            for inner, field in zip(value, data_type.fields)
        )
    )
