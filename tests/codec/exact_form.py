"""Values in a form whose equality leaves no difference out."""

from __future__ import annotations

import datetime
import struct
from decimal import Decimal
from typing import Any

from pyspark.sql.types import Row, VariantVal

from user_defined import Boxed


def exact(value: Any) -> Any:
    """A value with its type, and what ``==`` does not see: a float's bits (NaN, -0.0), a decimal's
    exponent, a datetime's fold and zone, the order of a dict, a row's field names.
    """
    name = type(value).__name__
    if isinstance(value, float):
        return name, struct.pack(">d", value).hex(), repr(value)
    if isinstance(value, Decimal):
        return name, value.as_tuple()
    if isinstance(value, (datetime.datetime, datetime.time)):
        return name, repr(value), value.fold
    if isinstance(value, Row):
        return name, getattr(value, "__fields__", None), [exact(each) for each in value]
    if isinstance(value, (tuple, list)):
        return name, [exact(each) for each in value]
    if isinstance(value, dict):
        return name, [(exact(key), exact(each)) for key, each in value.items()]
    if isinstance(value, VariantVal):
        return name, exact(value.value), exact(value.metadata)
    if isinstance(value, Boxed):
        return name, exact(value.value)
    return name, value
