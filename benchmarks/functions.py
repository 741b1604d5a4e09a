"""The Python functions that are measured: in Spark, in a plain loop, and behind each bridge.

No imports beyond the standard library, so that an interpreter without PySpark can load this file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

ONE = Decimal("1.00")
HOUR = timedelta(hours=1)


def increment(x: int) -> int:
    """Add one to a long."""
    return x + 1


def upper(text: str) -> str:
    """Put a short string in capitals."""
    return text.upper()


def add(x: int, y: int) -> int:
    """Add two longs."""
    return x + y


def increment_first(record: Sequence[Any]) -> tuple[Any, ...]:
    """Return a struct with one added to its first field."""
    return (record[0] + 1, *record[1:])


def increment_decimal(amount: Decimal) -> Decimal:
    """Add one to a decimal."""
    return amount + ONE


def next_hour(moment: datetime) -> datetime:
    """Return the same minute of the next hour."""
    return moment + HOUR


def total(values: Sequence[float]) -> float:
    """Add up an array."""
    return sum(values)


def lower_json(document: str) -> str:
    """Parse a JSON document, put its text in small letters, and print it again."""
    value = json.loads(document)
    value["a"] = value["a"].lower()
    return json.dumps(value)


def length(data: bytes) -> int:
    """Return the number of bytes."""
    return len(data)
