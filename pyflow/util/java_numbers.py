"""Numbers as Java writes them."""

from __future__ import annotations

import struct
from decimal import Decimal


def java_float(value: float, single: bool) -> str:
    """Return a FLOAT or DOUBLE as Java writes it: ``1.0E10`` from ten millions on."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    sign, digits, exponent = Decimal(_shortest(value) if single else repr(value)).as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    minus = "-" if sign else ""
    if not text:
        return f"{minus}0.0"
    assert isinstance(exponent, int)
    point = len("".join(map(str, digits)).lstrip("0")) + exponent
    text = text.rstrip("0") or "0"
    if -3 < point <= 7:
        if point <= 0:
            return f"{minus}0.{'0' * -point}{text}"
        whole, fraction = text[:point].ljust(point, "0"), text[point:]
        return f"{minus}{whole}.{fraction or '0'}"
    return f"{minus}{text[0]}.{text[1:] or '0'}E{point - 1}"


def _shortest(value: float) -> str:
    """Return the shortest text that is this value in single precision, as Java of two digits."""
    for digits in range(2, 10):
        text = f"{value:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == value:
            return text
    return repr(value)
