"""Rows and the kind of change that each of them is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = ["Row", "RowKind"]


class RowKind(Enum):
    """What a row of a changelog does to the table it belongs to."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return _SHORT_STRINGS[self.value]

    @unsupported("the rows here have no RowKind of Flink's JVM classes; use the Python enumeration")
    def to_j_row_kind(self) -> Any:
        """Return Flink's Java object of this kind."""


_SHORT_STRINGS = ("+I", "-U", "+U", "-D")
_ATTRIBUTES = frozenset(("_fields", "_values", "_from_dict", "_row_kind"))


def _create_row(
    fields: Sequence[str] | None, values: Sequence[Any], row_kind: RowKind | None = None
) -> Row:
    """Make a row of names and values as they come, for pickles and for the runtime."""
    row = object.__new__(Row)
    attributes = row.__dict__
    attributes["_values"] = list(values)
    attributes["_from_dict"] = False
    attributes["_row_kind"] = RowKind.INSERT if row_kind is None else row_kind
    if fields is not None:
        attributes["_fields"] = fields
    return row


class Row:
    """Values of one row of a table, with or without the names of its fields.

    ``Row(name="Alice", age=11)`` has named fields in the order of writing, read as ``row.name``,
    ``row["name"]`` or ``row[0]``; ``Row("Alice", 11)`` has values alone. Called, a row without
    names is a type of rows: ``Person = Row("name", "age")``, then ``Person("Alice", 11)``. Two
    rows are equal when their kinds and values are, and with names in any order of the fields.

    Parameters
    ----------
    *args
        Values by position.
    **kwargs
        Values by name; not together with values by position.

    Raises
    ------
    ValueError
        If values come both by position and by name.
    """

    _fields: Sequence[str]
    _values: list[Any]
    _from_dict: bool
    _row_kind: RowKind

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        attributes = self.__dict__
        if kwargs:
            if args:
                raise ValueError("a Row takes its values by position or by name, not both")
            attributes["_fields"] = list(kwargs)
            attributes["_values"] = list(kwargs.values())
        else:
            attributes["_values"] = list(args)
        attributes["_from_dict"] = bool(kwargs)
        attributes["_row_kind"] = RowKind.INSERT

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """Return the values by name.

        Parameters
        ----------
        recursive : bool
            Whether rows inside become dicts too, also in lists and dicts.

        Raises
        ------
        TypeError
            If the fields have no names.
        """
        if "_fields" not in self.__dict__:
            raise TypeError("a Row without field names cannot become a dict")
        values = map(_without_rows, self._values) if recursive else self._values
        return dict(zip(self._fields, values))

    def get_row_kind(self) -> RowKind:
        """Return what the row does to its table: an insertion unless set otherwise."""
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Set what the row does to its table."""
        self.__dict__["_row_kind"] = row_kind

    def set_field_names(self, field_names: list[str]) -> None:
        """Name the fields, in the order of the values."""
        self.__dict__["_fields"] = field_names

    def get_fields_by_names(self, names: list[str]) -> list[Any]:
        """Return the values of these fields; all values if the fields have no names.

        Raises
        ------
        ValueError
            If there is no field of one of the names. (PyFlink raises a bare ``Exception``.)
        """
        if "_fields" not in self.__dict__ or names == self._fields:
            return self._values
        unknown = [name for name in names if name not in self._fields]
        if unknown:
            raise ValueError(f"there are no fields {unknown} in a Row of {list(self._fields)}")
        return [self._values[self._fields.index(name)] for name in names]

    def _is_retract_msg(self) -> bool:
        return self._row_kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE)

    def _is_accumulate_msg(self) -> bool:
        return self._row_kind in (RowKind.INSERT, RowKind.UPDATE_AFTER)

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """Make a row of this kind; the other arguments are those of the class."""
        row = Row(*args, **kwargs)
        row.set_row_kind(row_kind)
        return row

    def __contains__(self, item: object) -> bool:
        fields = self.__dict__.get("_fields")
        return item in (self._values if fields is None else fields)

    def __call__(self, *args: Any) -> Row:
        """Make a row whose fields are named by the values of this one.

        Raises
        ------
        ValueError
            If there are more values than names.
        """
        if len(args) > len(self):
            raise ValueError(f"{self!r} names {len(self)} fields, but there are values {args}")
        return _create_row(self._values, args, self._row_kind)

    def __getitem__(self, item: int | slice | str) -> Any:
        if isinstance(item, (int, slice)):
            return self._values[item]
        return self._values[self._position(item)]

    def __setitem__(self, key: int | slice | str, value: Any) -> None:
        if isinstance(key, (int, slice)):
            self._values[key] = value
        elif "_fields" not in self.__dict__:
            raise KeyError(key)
        else:
            self._values[self._position(key)] = value

    def _position(self, name: str) -> int:
        try:
            position = self._fields.index(name)
        except ValueError:
            raise ValueError(name) from None
        if position >= len(self._values):
            raise KeyError(name)
        return position

    def __getattr__(self, item: str) -> Any:
        if item.startswith("_"):
            raise AttributeError(item)
        try:
            return self._values[self._position(item)]
        except (KeyError, ValueError):
            raise AttributeError(item) from None

    def __setattr__(self, key: str, value: Any) -> None:
        if key not in _ATTRIBUTES:
            raise AttributeError(key)
        self.__dict__[key] = value

    def __reduce__(self) -> tuple[Any, ...]:
        fields = self.__dict__.get("_fields")
        return _create_row, (fields, tuple(self._values), self._row_kind)

    def __repr__(self) -> str:
        if "_fields" in self.__dict__:
            named = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self))
            return f"Row({named})"
        return f"<Row({', '.join(map(repr, self))})>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row) or self.__class__ != other.__class__:
            return False
        if self._row_kind != other._row_kind:
            return False
        named = "_fields" in self.__dict__
        if named != ("_fields" in other.__dict__):
            return False
        if not named or self._fields == other._fields:
            return self._values == other._values
        names = sorted(self._fields)
        return names == sorted(other._fields) and all(self[n] == other[n] for n in names)

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _without_rows(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(True)
    if isinstance(value, list):
        return [_without_rows(element) for element in value]
    if isinstance(value, dict):
        return {key: _without_rows(element) for key, element in value.items()}
    return value
