"""The largest and the smallest of everything."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql.types import (
    DataType,
    DateType,
    DayTimeIntervalType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
)

from codec import Codec, CodecError
from exact_form import exact

EPOCH = datetime.datetime(1970, 1, 1)
DAY = 86_400_000_000

INTERNAL = [
    *((DayTimeIntervalType(), each) for each in (2**63 - 1, -(2**63), -1, 106751991 * DAY)),
    *((TimestampNTZType(), each) for each in (2**63 - 1, -(2**63), -1)),
    *((TimestampNTZType(), each) for each in (-719162 * DAY, -719162 * DAY - 1)),
    *((TimestampNTZType(), each) for each in (2932897 * DAY - 1, 2932897 * DAY)),
    *((DateType(), each) for each in (2**31 - 1, -(2**31), -1)),
    *((DateType(), each) for each in (-719162, -719163, 2932896, 2932897)),
]


def of_pyspark(data_type: DataType, internal: int, arrow: bool) -> Any:
    """What a function gets for Spark's number, or the type of the exception."""
    try:
        if not arrow:
            return data_type.fromInternal(internal)
        if isinstance(data_type, DateType):
            return EPOCH.date() + datetime.timedelta(internal)
        since_epoch = datetime.timedelta(microseconds=internal)
        return since_epoch if isinstance(data_type, DayTimeIntervalType) else EPOCH + since_epoch
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize(("data_type", "internal"), INTERNAL, ids=str)
def test_numbers_that_only_the_jvm_makes(
    data_type: DataType, internal: int, arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    try:
        argument = make_codec(data_type, arrow).decode(struct.pack("<qq", 0, internal))[0]
    except CodecError as error:
        argument = str(error).partition("(")[0]
    assert exact(argument) == exact(of_pyspark(data_type, internal, arrow))


@pytest.mark.parametrize("character", ["a", "é", "語", "😀"])
def test_a_string_of_100_megabytes(
    character: str, arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    text = character * (100_000_000 // len(character.encode()))
    codec = make_codec(StringType(), arrow)
    assert codec.decode(codec.encode((text,))) == (text,)


def test_a_row_of_2000_columns(arrow: bool) -> None:
    codec = Codec(StructType([StructField(f"c{i}", LongType()) for i in range(2000)]), arrow)
    row = tuple(None if i % 7 == 0 else i**5 for i in range(2000))
    assert codec.decode(codec.encode(row)) == row
    codec.close()
