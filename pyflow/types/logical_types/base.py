"""What all types have in common."""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar

Type = TypeVar("Type", bound="DataType")


class DataType:
    """A type of the values of a column, a literal, or an argument.

    Parameters
    ----------
    nullable : bool
        Whether None is a value of the type.
    """

    def __init__(self, nullable: bool = True) -> None:
        self._nullable = nullable
        self._conversion_cls = ""

    def __repr__(self) -> str:
        arguments = [*map(str, self._parameters()), str(self._nullable).lower()]
        return f"{type(self).__name__}({', '.join(arguments)})"

    def __str__(self) -> str:
        return self.type_name()

    @property
    def sql(self) -> str:
        """Flink's form of the type, as statements and texts of types have it."""
        return self._syntax() if self._nullable else f"{self._syntax()} NOT NULL"

    def _parameters(self) -> tuple[Any, ...]:
        """Return what ``repr`` shows before the nullability."""
        return ()

    def _syntax(self) -> str:
        """Return Flink's form without the nullability."""
        return self.type_name()

    def __hash__(self) -> int:
        return hash(self.sql)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self.__dict__ == other.__dict__

    def not_null(self: Type) -> Type:
        """Return the type without None among its values."""
        return self._with(_nullable=False)

    def nullable(self: Type) -> Type:
        """Return the type with None among its values."""
        return self._with(_nullable=True)

    def _with(self: Type, **attributes: Any) -> Type:
        changed = copy(self)
        changed.__dict__.update(attributes)
        return changed

    @classmethod
    def type_name(cls) -> str:
        """Return the name of the kind of type, as in SQL and without parameters."""
        return cls.__name__[:-4].upper()

    def bridged_to(self: Type, conversion_cls: str) -> Type:
        """Return the type with the name of a Java class for its values.

        Nothing here reads it: values are Python's, or Spark's own.
        """
        return self._with(_conversion_cls=conversion_cls)

    def need_conversion(self) -> bool:
        """Return whether `to_sql_type` and `from_sql_type` change values."""
        return False

    def to_sql_type(self, obj: Any) -> Any:
        """Return the internal form of a Python value: numbers for dates and times."""
        return obj

    def from_sql_type(self, obj: Any) -> Any:
        """Return the Python value of an internal form."""
        return obj


class AtomicType(DataType):
    """A type without types inside."""


def checked_type(subject: str, data_type: DataType) -> DataType:
    """Return a type, or raise a TypeError for anything else."""
    if not isinstance(data_type, DataType):
        raise TypeError(f"{subject} must be a DataType, as DataTypes.INT(), not {data_type!r}")
    return data_type


def check_range(subject: str, value: int, least: int, greatest: int) -> None:
    """Raise a ValueError for a length or precision that a type cannot have."""
    if not least <= value <= greatest:
        raise ValueError(f"{subject} must be between {least} and {greatest}, not {value}")
