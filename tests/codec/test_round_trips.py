"""What one function returns, the next one gets."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import ArrayType, BinaryType, StructType

import strategies
from codec import Codec
from exact_form import exact


@pytest.fixture(scope="module", autouse=True)
def zone_without_ambiguous_times(use_time_zone: Callable[[str], None]) -> None:
    use_time_zone("UTC")


@given(row_type=strategies.row_types, data=st.data())
def test_rows(arrow: bool, row_type: StructType, data: st.DataObject) -> None:
    # The JVM converts larger pickled maps.
    values = strategies.values(row_type, nullable=False, map_size=lambda _: 4 if arrow else 1)
    row = data.draw(values)
    codec = Codec(row_type, arrow)
    try:
        decoded = codec.decode(codec.encode(row))
    finally:
        codec.close()
    expected = tuple(strategies.as_argument(row_type, row, arrow))
    assert exact(decoded) == exact(expected)


@pytest.mark.parametrize("data_type", [BinaryType(), ArrayType(BinaryType())], ids=str)
def test_binary_arguments_are_bytearrays_where_the_session_says_so(
    data_type: BinaryType, arrow: bool, make_codec: Callable[..., Codec]
) -> None:
    codec = make_codec(data_type, arrow, binary_as_bytes=False)
    value = b"abc" if data_type == BinaryType() else [b"abc"]
    expected = bytearray(b"abc") if data_type == BinaryType() else [bytearray(b"abc")]
    assert exact(codec.decode(codec.encode((value,)))) == exact((expected,))
