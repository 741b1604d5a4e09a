"""Types of objects of Python."""

from __future__ import annotations

import pickle
from typing import Any

from pyflow.types.logical_types.base import DataType


class RawType(DataType):
    """Python objects of any kind, pickled."""

    def from_sql_type(self, obj: bytes) -> Any:
        """Return the object of a pickle."""
        return pickle.loads(obj)


class UserDefinedType(DataType):
    """Base of types of objects of a program's own classes.

    A subclass says in `sql_type` how the objects are kept, in `serialize` and `deserialize` how
    they become that and come back. The class of the objects has it as attribute ``__UDT__``.
    """

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def type_name(cls) -> str:
        """Return the name of the class in lower case."""
        return cls.__name__.lower()

    @classmethod
    def sql_type(cls) -> DataType:
        """Return the type as which the objects are kept."""
        raise NotImplementedError(f"{cls.__name__} must implement sql_type()")

    @classmethod
    def module(cls) -> str:
        """Return the name of the module that has the class."""
        raise NotImplementedError(f"{cls.__name__} must implement module()")

    @classmethod
    def java_udt(cls) -> str:
        """Return the name of a Java class for the same type; none here."""
        return ""

    def need_conversion(self) -> bool:
        """Return True."""
        return True

    def to_sql_type(self, obj: Any) -> Any:
        """Return the internal form of an object."""
        return None if obj is None else self.sql_type().to_sql_type(self.serialize(obj))

    def from_sql_type(self, obj: Any) -> Any:
        """Return the object of an internal form."""
        value = self.sql_type().from_sql_type(obj)
        return None if value is None else self.deserialize(value)

    def serialize(self, obj: Any) -> Any:
        """Return a value of `sql_type` for an object."""
        raise NotImplementedError(f"{type(self).__name__} must implement serialize()")

    def deserialize(self, datum: Any) -> Any:
        """Return the object for a value of `sql_type`."""
        raise NotImplementedError(f"{type(self).__name__} must implement deserialize()")
