"""What asks for another attempt at an asynchronous call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def empty_result_predicate(result: Sequence[Any] | None) -> bool:
    """Return whether there is no result."""
    return not result


def has_exception_predicate(error: BaseException | None) -> bool:
    """Return whether there was an exception."""
    return error is not None


def exception_type_predicate(
    error: BaseException | None, expected_error_type: type[BaseException]
) -> bool:
    """Return whether there was an exception of a type."""
    return isinstance(error, expected_error_type)
