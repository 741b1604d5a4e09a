"""Bitmaps as bytes, in the portable format of RoaringBitmap.

A bitmap is the list of its values, each an INT of 32 bits, in their order as unsigned numbers. The
format divides them by their upper halves. The lower halves under one of them are a container: an
array, a bit for each of 65,536 numbers, or runs of a first number and how many follow it.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from itertools import groupby, pairwise
from struct import Struct, error, unpack_from

_WITHOUT_RUNS = 12346
_WITH_RUNS = 12347
_HALF = 1 << 16
_GREATEST_ARRAY = 4096
_BYTES_OF_BITS = _HALF // 8
#: From this number of containers on, the format says where each begins, even if there are runs.
_OFFSETS_FROM = 4

_U16 = Struct("<H")
_U32 = Struct("<I")
_PAIR = Struct("<HH")
_BITS = [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]


def to_bytes(values: list[int] | None) -> bytes | None:
    """Return the bytes of a bitmap; each container takes the form that is shortest."""
    if values is None:
        return None
    headers, containers, with_runs = [], [], []
    for upper, group in groupby(values, lambda value: value >> 16 & _HALF - 1):
        lower = [value & _HALF - 1 for value in group]
        headers.append(_PAIR.pack(upper, len(lower) - 1))
        written, has_runs = _written(lower)
        containers.append(written)
        with_runs.append(has_runs)
    count = len(containers)
    if any(with_runs):
        flags = sum(has_runs << place for place, has_runs in enumerate(with_runs))
        start = _U32.pack(_WITH_RUNS | count - 1 << 16) + flags.to_bytes(-(-count // 8), "little")
    else:
        start = _U32.pack(_WITHOUT_RUNS) + _U32.pack(count)
    start += b"".join(headers)
    if not any(with_runs) or count >= _OFFSETS_FROM:
        offset = len(start) + _U32.size * count
        for container in containers:
            start += _U32.pack(offset)
            offset += len(container)
    return start + b"".join(containers)


def _written(lower: list[int]) -> tuple[bytes, bool]:
    """Return the bytes of a container, and whether it has runs."""
    runs = list(_runs(lower))
    as_array = len(lower) <= _GREATEST_ARRAY
    shortest = _U16.size * len(lower) if as_array else _BYTES_OF_BITS
    if _U16.size + _PAIR.size * len(runs) < shortest:
        return _U16.pack(len(runs)) + b"".join(_PAIR.pack(*run) for run in runs), True
    if as_array:
        return _in_order(array("H", lower)).tobytes(), False
    bits = bytearray(_BYTES_OF_BITS)
    for number in lower:
        bits[number >> 3] |= 1 << (number & 7)
    return bytes(bits), False


def _runs(lower: list[int]) -> Iterator[tuple[int, int]]:
    first = last = lower[0]
    for number in lower[1:]:
        if number != last + 1:
            yield first, last - first
            first = number
        last = number
    yield first, last - first


def of_bytes(serialized: bytes | None) -> list[int] | None:
    """Return the bitmap of bytes. What follows it is left out, as RoaringBitmap does.

    Raises
    ------
    ValueError
        If the bytes do not begin with a bitmap.
    """
    if serialized is None:
        return None
    try:
        values = array("I", _read(serialized))
    except (error, IndexError):
        raise ValueError(f"{_NO_BITMAP}they end too early") from None
    if any(one >= other for one, other in pairwise(values)):
        raise ValueError(f"{_NO_BITMAP}their values are not in order")
    return array("i", values.tobytes()).tolist()


_NO_BITMAP = "the bytes are no bitmap in RoaringBitmap's portable format: "


def _read(serialized: bytes) -> Iterator[int]:
    """Return the values, unsigned."""
    (cookie,) = _U32.unpack_from(serialized)
    position = _U32.size
    flags = 0
    if cookie & _HALF - 1 == _WITH_RUNS:
        count = (cookie >> 16) + 1
        size = -(-count // 8)
        flags = int.from_bytes(serialized[position : position + size], "little")
        position += size
    elif cookie == _WITHOUT_RUNS:
        (count,) = _U32.unpack_from(serialized, position)
        position += _U32.size
    else:
        raise ValueError(f"{_NO_BITMAP}they begin with {cookie}")
    if count > _HALF:
        raise ValueError(f"{_NO_BITMAP}they have {count} containers")
    headers = unpack_from(f"<{2 * count}H", serialized, position)
    position += _PAIR.size * count
    if cookie == _WITHOUT_RUNS or count >= _OFFSETS_FROM:
        position += _U32.size * count
    for place in range(count):
        upper, length = headers[2 * place] << 16, headers[2 * place + 1] + 1
        if flags >> place & 1:
            (runs,) = _U16.unpack_from(serialized, position)
            size = _U16.size + _PAIR.size * runs
            lower = _of_runs(unpack_from(f"<{2 * runs}H", serialized, position + _U16.size))
        elif length <= _GREATEST_ARRAY:
            size = _U16.size * length
            lower = iter(unpack_from(f"<{length}H", serialized, position))
        else:
            size = _BYTES_OF_BITS
            lower = _of_bits(unpack_from(f"{size}s", serialized, position)[0])
        position += size
        yield from (upper | number for number in lower)


def _of_runs(runs: tuple[int, ...]) -> Iterator[int]:
    for first, more in zip(runs[::2], runs[1::2]):
        if first + more >= _HALF:
            raise ValueError(f"{_NO_BITMAP}a run is too long")
        yield from range(first, first + more + 1)


def _of_bits(bits: bytes) -> Iterator[int]:
    return (place << 3 | bit for place, byte in enumerate(bits) if byte for bit in _BITS[byte])


def _in_order(numbers: array[int]) -> array[int]:
    """Return numbers with their bytes in the order of the format."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
