"""Lengths of time, and points in time."""

from __future__ import annotations

import re

__all__ = ["Duration", "Instant", "Time", "milliseconds_of"]

_NANOS = {
    "d": 86_400 * 10**9,
    "h": 3_600 * 10**9,
    "min": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "ns": 1,
}
_UNITS = {
    "d": "d",
    "day": "d",
    "days": "d",
    "h": "h",
    "hour": "h",
    "hours": "h",
    "m": "min",
    "min": "min",
    "minute": "min",
    "minutes": "min",
    "s": "s",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "ms": "ms",
    "milli": "ms",
    "millis": "ms",
    "millisecond": "ms",
    "milliseconds": "ms",
    "us": "us",
    "µs": "us",
    "micro": "us",
    "micros": "us",
    "microsecond": "us",
    "microseconds": "us",
    "ns": "ns",
    "nano": "ns",
    "nanos": "ns",
    "nanosecond": "ns",
    "nanoseconds": "ns",
}


class Duration:
    """A length of time, to the nanosecond.

    Parameters
    ----------
    nanos : int
        Its nanoseconds; programs call ``Duration.of_seconds(20)`` and the like.
    """

    def __init__(self, nanos: int) -> None:
        self._nanos = nanos

    @staticmethod
    def of_days(days: int) -> Duration:
        """Return so many days of 24 hours."""
        return Duration(days * _NANOS["d"])

    @staticmethod
    def of_hours(hours: int) -> Duration:
        """Return so many hours."""
        return Duration(hours * _NANOS["h"])

    @staticmethod
    def of_millis(millis: int) -> Duration:
        """Return so many milliseconds."""
        return Duration(millis * _NANOS["ms"])

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        """Return so many minutes."""
        return Duration(minutes * _NANOS["min"])

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        """Return so many nanoseconds."""
        return Duration(nanos)

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        """Return so many seconds."""
        return Duration(seconds * _NANOS["s"])

    @staticmethod
    def parse(text: str) -> Duration:
        """Return the length of time that a setting names, as ``30s``, ``5 min`` or ``1 d``.

        A number alone is milliseconds. PyFlow's own; in Flink its JVM does this.

        Raises
        ------
        ValueError
            If the text names none.
        """
        found = re.fullmatch(r"\s*(\d+)\s*([^\W\d_]*)\s*", text)
        unit = _UNITS.get(found[2].lower() or "ms") if found else None
        if found is None or unit is None:
            raise ValueError(
                f"{text!r} is no length of time: it is a whole number with one of"
                f" {', '.join(_NANOS)}, as '30 s'"
            )
        return Duration(int(found[1]) * _NANOS[unit])

    def to_millis(self) -> int:
        """Return its whole milliseconds."""
        return self._nanos // _NANOS["ms"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self._nanos == other._nanos

    def __hash__(self) -> int:
        return hash(self._nanos)

    def __str__(self) -> str:
        """Return the form of settings: a whole number of the longest unit that fits."""
        unit = next(unit for unit, nanos in _NANOS.items() if self._nanos % nanos == 0)
        return f"{self._nanos // _NANOS[unit]} {unit}" if self._nanos else "0 ms"

    def __repr__(self) -> str:
        return f"Duration<{self}>"


class Instant:
    """A point in time.

    Parameters
    ----------
    seconds : int
        Whole seconds since the epoch.
    nanos : int
        Nanoseconds after that, 0 to 999,999,999.
    """

    def __init__(self, seconds: int, nanos: int) -> None:
        self.seconds = seconds
        self.nanos = nanos

    def to_epoch_milli(self) -> int:
        """Return the whole milliseconds since the epoch."""
        return self.seconds * 1000 + self.nanos // 1_000_000

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        """Return the point in time so many milliseconds after the epoch."""
        seconds, millis = divmod(epoch_milli, 1000)
        return Instant(seconds, millis * 1_000_000)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Instant)
            and self.seconds == other.seconds
            and self.nanos == other.nanos
        )

    def __hash__(self) -> int:
        return hash((self.seconds, self.nanos))

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


class Time:
    """A length of time, to the millisecond, as windows of the DataStream API take it.

    Parameters
    ----------
    milliseconds : int
        Its milliseconds.
    """

    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = milliseconds

    def to_milliseconds(self) -> int:
        """Return its milliseconds."""
        return self._milliseconds

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        """Return so many milliseconds."""
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        """Return so many seconds."""
        return Time(seconds * 1000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        """Return so many minutes."""
        return Time(minutes * 60_000)

    @staticmethod
    def hours(hours: int) -> Time:
        """Return so many hours."""
        return Time(hours * 3_600_000)

    @staticmethod
    def days(days: int) -> Time:
        """Return so many days of 24 hours."""
        return Time(days * 86_400_000)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Time) and self._milliseconds == other._milliseconds

    def __hash__(self) -> int:
        return hash(self._milliseconds)

    def __str__(self) -> str:
        return f"{self._milliseconds} ms"


def milliseconds_of(length: Time | Duration) -> int:
    """Return the milliseconds of a length of time, which programs give as either."""
    return length.to_millis() if isinstance(length, Duration) else length.to_milliseconds()
