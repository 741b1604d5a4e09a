"""What the schemas of rows have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyflow.common.types import Row, _create_row

__all__ = ["Compiled", "row_of", "row_values"]


class Compiled:
    """A schema whose functions are made where they are first called, and not pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if not key.startswith("_made_")}

    def made(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what has been made once.

        Parameters
        ----------
        name : str
        make : callable
            Makes it.
        """
        key = f"_made_{name}"
        found = vars(self).get(key)
        if found is None:
            found = vars(self)[key] = make()
        return found


def row_of(names: Sequence[str]) -> Callable[[list[Any]], Row]:
    """Return what makes rows with these names of lists of their values."""

    def make(values: list[Any]) -> Row:
        return _create_row(names, values)

    return make


def row_values(value: Any, names: Sequence[str]) -> Sequence[Any]:
    """Return the values of a row in the order of the fields of a schema.

    Values are taken by name where the row has the same names, and otherwise by position.

    Parameters
    ----------
    value
        A `Row`, a tuple, a list, a dict, or an object with attributes.
    names
        Of the fields.

    Raises
    ------
    ValueError
        If there are more or fewer values, or the value is none of these.
    """
    values: Sequence[Any]
    if isinstance(value, Row):
        own = value.__dict__.get("_fields")
        if own is None or own == names or sorted(own) != sorted(names):
            values = value._values
        else:
            values = [value[name] for name in names]
    elif isinstance(value, (tuple, list)):
        values = value
    elif isinstance(value, dict):
        return [value.get(name) for name in names]
    elif hasattr(value, "__dict__"):
        return [getattr(value, name, None) for name in names]
    else:
        raise ValueError(
            f"{value!r} of type {type(value).__name__} is no row with the fields {list(names)}"
        )
    if len(values) != len(names):
        raise ValueError(
            f"Row length mismatch. {len(names)} fields expected but was {len(values)}."
        )
    return values
