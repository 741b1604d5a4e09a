"""Rows that no Spark operator would write are an error, or some other row; never a read beyond."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    VariantType,
)

import strategies
from codec import Codec, CodecError


@given(row_type=strategies.row_types.filter(len), data=st.data())
def test_damaged_rows(arrow: bool, row_type: StructType, data: st.DataObject) -> None:
    values = strategies.values(row_type, nullable=False, map_size=lambda _: 4 if arrow else 1)
    codec = Codec(row_type, arrow)
    try:
        row = codec.encode(data.draw(values))
        damaged = bytearray(row)
        for _ in range(data.draw(st.integers(1, 4))):
            damaged[data.draw(st.integers(0, len(row) - 1))] = data.draw(st.integers(0, 255))
        fixed = (len(row_type) + 63) // 64 * 8 + 8 * len(row_type)
        end = data.draw(st.integers(fixed, len(row)))
        with contextlib.suppress(CodecError):
            codec.decode(bytes(damaged[:end]))
    finally:
        codec.close()


_PAIR = StructType([StructField("a", LongType()), StructField("b", LongType())])


@pytest.mark.parametrize(
    ("data_type", "value"),
    [
        (_PAIR, bytes(8)),  # without its fields
        (ArrayType(LongType()), b""),  # without its length
        (ArrayType(LongType()), struct.pack("<qq", 1, 0)),  # without its element
        (ArrayType(LongType()), struct.pack("<Qq", 2**63, 0)),
        (ArrayType(LongType()), struct.pack("<Qq", 2**64 - 1, 0)),
        (ArrayType(StringType()), struct.pack("<qqQ", 1, 0, 2**40 | 1)),
        (MapType(LongType(), LongType()), b""),
        (MapType(LongType(), LongType()), struct.pack("<Q", 2**64 - 8)),
        # One key, no value
        (MapType(LongType(), LongType()), struct.pack("<qqqqqq", 24, 1, 0, 7, 0, 0)),
        (VariantType(), b"\0"),
        (VariantType(), struct.pack("<I", 1)),
    ],
    ids=str,
)
def test_what_lies_beyond_is_not_read(
    data_type: DataType, value: bytes, arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(data_type, arrow)
    row = struct.pack("<qQ", 0, 16 << 32 | len(value)) + value
    with pytest.raises(CodecError, match="malformed row"):
        codec.decode(row)


@pytest.mark.parametrize("data_type", [StringType(), BinaryType(), VariantType()], ids=str)
@pytest.mark.parametrize(("offset", "size"), [(16, 9), (24, 1), (2**32 - 1, 1), (0, 2**32 - 1)])
def test_values_that_end_outside_of_the_row(
    data_type: DataType,
    offset: int,
    size: int,
    arrow: bool,
    make_codec: Callable[..., Codec],
) -> None:
    codec = make_codec(data_type, arrow)
    with pytest.raises(CodecError, match="malformed row"):
        codec.decode(struct.pack("<qQ", 0, offset << 32 | size) + b"12345678")
