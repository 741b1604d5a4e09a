"""Decimals of any number of digits and any exponent, against Python's own arithmetic."""

from __future__ import annotations

import decimal
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import DecimalType, StructField, StructType

import strategies
from codec import INEXACT, Codec, Inexact

#: No row holds more digits, and the codec does not look at them.
MAX_DIGITS = 38


def decimal_of(negative: bool, digits: int, exponent: int) -> Decimal:
    return Decimal((int(negative), tuple(map(int, str(digits))), exponent))


def numbers(data_type: DecimalType) -> st.SearchStrategy[Decimal]:
    """Numbers of any size, and such as lie close to or half way between those of the type."""
    anything = st.builds(
        decimal_of,
        st.booleans(),
        st.integers(0, 10**45),
        st.one_of(st.integers(-80, 80), st.integers(-(10**6), 10**6)),
    )
    size = st.integers(0, data_type.precision)
    between = st.builds(
        lambda negative, kept, tail, zeros: decimal_of(
            negative, (kept * 10 + tail) * 10**zeros, -data_type.scale - zeros - 1
        ),
        st.booleans(),
        size.flatmap(lambda digits: st.integers(10**digits - 2, 10**digits + 2)).map(abs),
        st.sampled_from([0, 1, 4, 5, 5, 5, 6, 9]),
        st.integers(0, 10),
    )
    return st.one_of(anything, between)


def rescaled(number: Decimal, data_type: DecimalType, rounding: str) -> Decimal | Inexact:
    context = decimal.Context(prec=200, rounding=rounding, Emin=-(10**9), Emax=10**9)
    if len(number.as_tuple().digits) > MAX_DIGITS or number.adjusted() > MAX_DIGITS:
        return INEXACT if number else Decimal((0, (0,), -data_type.scale))
    unit = Decimal((0, (1,), -data_type.scale))
    exact = number.quantize(unit, context=context)
    too_large = len(exact.as_tuple().digits) > data_type.precision
    return INEXACT if too_large else exact


def result_of(codec: Codec, number: Decimal) -> Decimal | Inexact:
    row = codec.encode((number,))
    return row if isinstance(row, Inexact) else codec.decode(row)[0]


@given(data_type=strategies.decimal_types(), data=st.data())
def test_decimals(arrow: bool, data_type: DecimalType, data: st.DataObject) -> None:
    codec = Codec(StructType([StructField("value", data_type)]), arrow)
    rounding = decimal.ROUND_HALF_EVEN if arrow else decimal.ROUND_HALF_UP
    for number in data.draw(st.lists(numbers(data_type), min_size=1)):
        assert result_of(codec, number) == rescaled(number, data_type, rounding), number
    codec.close()
