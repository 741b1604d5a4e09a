"""Keys that Spark sends to subtasks of a number.

Spark sends a row to the subtask that the hash of its target and key says: Murmur3 in the variant of
``org.apache.spark.unsafe.hash.Murmur3_x86_32`` with the seed 42, as the function ``hash`` has it.
"""

from __future__ import annotations

import struct
from functools import cache
from itertools import count

__all__ = ["reserved_keys"]

_SEED = 42
_MASK = 0xFFFFFFFF


def _rotated(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & _MASK


def _mixed(state: int, word: int) -> int:
    word = _rotated(word * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    return (_rotated(state ^ word, 13) * 5 + 0xE6546B64) & _MASK


def _ended(state: int, length: int) -> int:
    state ^= length
    state = (state ^ (state >> 16)) * 0x85EBCA6B & _MASK
    state = (state ^ (state >> 13)) * 0xC2B2AE35 & _MASK
    return state ^ (state >> 16)


def subtask_of(target: int, key: bytes, parallelism: int) -> int:
    """Return the number of the subtask that rows of a target and a key are sent to.

    Parameters
    ----------
    target : int
        Of 32 bits.
    key : bytes
        Of a multiple of four bytes.
    parallelism : int
        How many subtasks there are.
    """
    state = _ended(_mixed(_SEED, target & _MASK), 4)
    for (word,) in struct.iter_unpack("<I", key):
        state = _mixed(state, word)
    state = _ended(state, len(key))
    signed = state - (1 << 32) if state >> 31 else state
    return signed % parallelism


@cache
def reserved_keys(target: int, parallelism: int) -> tuple[bytes, ...]:
    """Return for each subtask a key that is sent there.

    Parameters
    ----------
    target : int
        The operator that the rows go to.
    parallelism : int
        How many subtasks there are.
    """
    found: dict[int, bytes] = {}
    for number in count():
        key = struct.pack("<I", number)
        found.setdefault(subtask_of(target, key, parallelism), key)
        if len(found) == parallelism:
            return tuple(found[subtask] for subtask in range(parallelism))
    raise AssertionError("counting has no end")
