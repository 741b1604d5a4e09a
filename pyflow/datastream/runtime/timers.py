"""Timers of an operator's keys.

Timers of unbounded input lie in an index that each task has for itself, in the order of their
times, so that those that are due are found whatever their keys are. What is registered and deleted
in a batch is written at its end.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from hashlib import blake2b
from heapq import heappop, heappush
from typing import Any, NamedTuple

__all__ = ["EVENT_TIME", "PROCESSING_TIME", "SWEEP", "DueTimers", "Timer", "TimerIndex"]

#: Domains of timers. Sweeps look for state that has expired; they wait for a batch.
EVENT_TIME = 0
PROCESSING_TIME = 1
SWEEP = 2

_FAMILIES = ("event_timers", "processing_timers", "sweeps")
_VALUE = "target INT, key BINARY, namespace BINARY, object BINARY"
_time = struct.Struct(">Q")
_MIDDLE = 1 << 63


class Timer(NamedTuple):
    """A timer of a key.

    Attributes
    ----------
    time : int
        In milliseconds since the epoch.
    domain : int
    target : int
        The operator.
    key : bytes
    namespace : bytes
    """

    time: int
    domain: int
    target: int
    key: bytes
    namespace: bytes

    def moment(self) -> bytes:
        """Return the key in the index: sorted by time, and unlike those of other timers."""
        who = struct.pack(">iq", self.target, len(self.key)) + self.key + self.namespace
        return _time.pack(self.time + _MIDDLE) + blake2b(who, digest_size=16).digest()


class TimerIndex:
    """The timers of all keys of a task.

    Parameters
    ----------
    handle : StatefulProcessorHandle
        Of the task.
    """

    def __init__(self, handle: Any) -> None:
        self._states = [handle.getMapState(name, "moment BINARY", _VALUE) for name in _FAMILIES]
        # Of each domain, by the key in the index: a value, or None where the timer is deleted.
        self._changes: list[dict[bytes, tuple[Any, ...] | None]] = [{}, {}, {}]

    def due(self, domain: int, until: int) -> Iterator[tuple[Timer, bytes]]:
        """Yield timers with the pickled keys of their users, in the order of their times.

        The key that the index belongs to must be the current one until the last of them.
        """
        for (moment,), (target, key, namespace, user_key) in self._states[domain].iterator():
            (shifted,) = _time.unpack_from(moment)
            if shifted - _MIDDLE > until:
                return
            yield (
                Timer(shifted - _MIDDLE, domain, target, bytes(key), bytes(namespace)),
                bytes(user_key),
            )

    def first(self, domain: int) -> int | None:
        """Return the time of the first timer after all changes have been written."""
        for (moment,), _ in self._states[domain].iterator():
            return int(_time.unpack_from(moment)[0]) - _MIDDLE
        return None

    def put(self, timer: Timer, user_key: bytes) -> None:
        """Add a timer."""
        value = (timer.target, timer.key, timer.namespace, user_key)
        self._changes[timer.domain][timer.moment()] = value

    def remove(self, timer: Timer) -> None:
        """Remove a timer, if there is one."""
        self._changes[timer.domain][timer.moment()] = None

    def flush(self) -> None:
        """Write what has changed; the key that the index belongs to must be the current one."""
        for state, changes in zip(self._states, self._changes):
            for moment, value in changes.items():
                if value is None:
                    state.removeKey((moment,))
                else:
                    state.updateValue((moment,), value)
            changes.clear()


class DueTimers:
    """Timers of one key and domain, in the order of their times.

    Attributes
    ----------
    timers : list of Timer
        A heap of them, and of some that have been discarded.
    """

    def __init__(self) -> None:
        self.timers: list[Timer] = []
        self._waiting: set[Timer] = set()

    def add(self, timer: Timer) -> None:
        """Add a timer, once."""
        if timer not in self._waiting:
            self._waiting.add(timer)
            heappush(self.timers, timer)

    def discard(self, timer: Timer) -> None:
        """Remove a timer, if it is there."""
        self._waiting.discard(timer)

    def pop(self, until: int) -> Timer | None:
        """Return the first timer that is not after a time, and remove it."""
        while self.timers and self.timers[0].time <= until:
            timer = heappop(self.timers)
            if timer in self._waiting:
                self._waiting.discard(timer)
                return timer
        return None
