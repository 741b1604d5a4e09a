"""Numbers."""

from __future__ import annotations

import decimal

_UNBOUNDED = decimal.Context(prec=400)


def truncated(number: float | None, places: int | None) -> float | None:
    """Return a number, truncated to a number of decimal places."""
    if number is None or places is None:
        return None
    if number - number != 0:
        return number
    places_kept = decimal.Decimal(1).scaleb(-places)
    exact = decimal.Decimal(repr(number))
    return float(exact.quantize(places_kept, decimal.ROUND_DOWN, _UNBOUNDED))


def sum_of_longs(values: list[int] | None) -> int | None:
    """Return the lowest 64 bits of the sum of numbers; null if there are none."""
    if not values:
        return None
    return (sum(values) + (1 << 63)) % (1 << 64) - (1 << 63)


def sum_of_doubles(values: list[float] | None) -> float | None:
    """Return the sum of numbers; null if there are none."""
    return sum(values) if values else None


def sum_of_decimals(values: list[decimal.Decimal] | None, digits: int) -> decimal.Decimal | None:
    """Return the sum of numbers; null if there are none, or it has more digits before the point."""
    if not values:
        return None
    total = decimal.Decimal(0)
    for value in values:
        total = _UNBOUNDED.add(total, value)
    # The usual context would round what abs() gives.
    return total if total.copy_abs() < decimal.Decimal(10) ** digits else None
