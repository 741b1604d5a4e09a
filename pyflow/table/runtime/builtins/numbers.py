"""Numbers."""

from __future__ import annotations

import decimal

_UNBOUNDED = decimal.Context(prec=400)


def truncated(number: float | None, places: int | None) -> float | None:
    """Return a number without the digits after so many places behind the point."""
    if number is None or places is None:
        return None
    if number - number != 0:
        return number
    places_kept = decimal.Decimal(1).scaleb(-places)
    exact = decimal.Decimal(repr(number))
    return float(exact.quantize(places_kept, decimal.ROUND_DOWN, _UNBOUNDED))
