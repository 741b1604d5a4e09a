"""Types that have types inside: arrays, multisets, maps, rows, and the views of accumulators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyflow.common.types import Row, RowKind, _create_row
from pyflow.types import internal_values as internal
from pyflow.types.logical_types.base import DataType, checked_type


class _CollectionType(DataType):
    def __init__(self, element_type: DataType, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.element_type = checked_type("the type of the elements", element_type)

    def _parameters(self) -> tuple[Any, ...]:
        return (repr(self.element_type),)

    def _syntax(self) -> str:
        return f"{self.type_name()}<{self.element_type.sql}>"

    def need_conversion(self) -> bool:
        """Return whether the elements are converted."""
        return self.element_type.need_conversion()

    def to_sql_type(self, obj: Any) -> Any:
        """Return the elements in their internal form."""
        if not self.need_conversion():
            return obj
        return obj and [self.element_type.to_sql_type(element) for element in obj]

    def from_sql_type(self, obj: Any) -> Any:
        """Return the elements as Python values."""
        if not self.need_conversion():
            return obj
        return obj and [self.element_type.from_sql_type(element) for element in obj]


class ArrayType(_CollectionType):
    """Lists of values of one type: ``ARRAY<t>``."""


class MultisetType(_CollectionType):
    """Values of one type, each any number of times: ``MULTISET<t>``."""


class MapType(DataType):
    """Keys of one type with values of another: ``MAP<k, v>``. No key is None."""

    def __init__(self, key_type: DataType, value_type: DataType, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.key_type = checked_type("the type of the keys", key_type)
        self.value_type = checked_type("the type of the values", value_type)

    def _parameters(self) -> tuple[Any, ...]:
        return repr(self.key_type), repr(self.value_type)

    def _syntax(self) -> str:
        return f"MAP<{self.key_type.sql}, {self.value_type.sql}>"

    def need_conversion(self) -> bool:
        """Return whether keys or values are converted."""
        return self.key_type.need_conversion() or self.value_type.need_conversion()

    def to_sql_type(self, obj: Any) -> Any:
        """Return keys and values in their internal form."""
        if not self.need_conversion():
            return obj
        key, value = self.key_type.to_sql_type, self.value_type.to_sql_type
        return obj and {key(k): value(v) for k, v in obj.items()}

    def from_sql_type(self, obj: Any) -> Any:
        """Return keys and values as Python values."""
        if not self.need_conversion():
            return obj
        key, value = self.key_type.from_sql_type, self.value_type.from_sql_type
        return obj and {key(k): value(v) for k, v in obj.items()}


class _ViewType(DataType):
    def to_sql_type(self, obj: Any) -> Any:
        """Raise: a view is no value.

        Raises
        ------
        TypeError
            Always. (PyFlink raises a bare ``Exception``.)
        """
        raise TypeError(
            f"{type(self).__name__} can only be used in the accumulator type of an aggregate"
            " function"
        )

    from_sql_type = to_sql_type


class ListViewType(_ViewType):
    """The type of a `pyflow.table.ListView`, in an accumulator type alone."""

    def __init__(self, element_type: DataType) -> None:
        super().__init__(False)
        self._element_type = checked_type("the type of the elements", element_type)

    def __repr__(self) -> str:
        return f"ListViewType({self._element_type!r})"

    def _syntax(self) -> str:
        return f"LIST_VIEW<{self._element_type.sql}>"


class MapViewType(_ViewType):
    """The type of a `pyflow.table.MapView`, in an accumulator type alone."""

    def __init__(self, key_type: DataType, value_type: DataType) -> None:
        super().__init__(False)
        self._key_type = checked_type("the type of the keys", key_type)
        self._value_type = checked_type("the type of the values", value_type)

    def __repr__(self) -> str:
        return f"MapViewType({self._key_type!r}, {self._value_type!r})"

    def _syntax(self) -> str:
        return f"MAP_VIEW<{self._key_type.sql}, {self._value_type.sql}>"


class RowField:
    """A field of a `RowType`.

    Parameters
    ----------
    name : str
        Its name.
    data_type : DataType
        The type of its values.
    description : str, optional
        Its description; ``...`` if it is not set.
    """

    def __init__(self, name: str, data_type: DataType, description: str | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a field must be a str, not {name!r}")
        if description is not None and not isinstance(description, str):
            raise TypeError(f"the description of {name!r} must be a str, not {description!r}")
        self.name = name
        self.data_type = checked_type(f"the type of field {name!r}", data_type)
        self.description = "..." if description is None else description

    def __repr__(self) -> str:
        return f"RowField({self.name}, {self.data_type!r}, {self.description})"

    def __str__(self) -> str:
        return f"RowField({self.name}, {self.data_type})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self.name, self.data_type))

    def _syntax(self) -> str:
        name = self.name.replace("`", "``")
        description = self.description.replace("'", "''")
        comment = "" if self.description == "..." else f" '{description}'"
        return f"`{name}` {self.data_type.sql}{comment}"

    def need_conversion(self) -> bool:
        """Return whether the values are converted."""
        return self.data_type.need_conversion()

    def to_sql_type(self, obj: Any) -> Any:
        """Return the internal form of a value."""
        return self.data_type.to_sql_type(obj)

    def from_sql_type(self, obj: Any) -> Any:
        """Return the Python value of an internal form."""
        return self.data_type.from_sql_type(obj)


class RowType(DataType):
    """Rows of named fields: ``ROW<`id` BIGINT, `name` STRING>``.

    Iterating gives its fields; ``row_type["id"]``, ``row_type[0]`` and slices take some of them.

    Parameters
    ----------
    fields : list of RowField, optional
        The fields, in order.
    nullable : bool
        Whether None is a value of the type.
    """

    def __init__(self, fields: Sequence[RowField] | None = None, nullable: bool = True) -> None:
        super().__init__(nullable)
        self.fields = list(fields or ())
        for field in self.fields:
            if not isinstance(field, RowField):
                raise TypeError(f"a row has fields, made by DataTypes.FIELD, not {field!r}")

    @property
    def names(self) -> list[str]:
        """The names of the fields."""
        return [field.name for field in self.fields]

    def add(self, field: RowField | str, data_type: DataType | None = None) -> RowType:
        """Append a field to this type while it is being built.

        Parameters
        ----------
        field : RowField or str
            The field, or its name.
        data_type : DataType, optional
            Its type, where `field` is a name.

        Returns
        -------
        RowType
            This type.

        Raises
        ------
        ValueError
            If there is a name and no type.
        """
        if isinstance(field, str):
            if data_type is None:
                raise ValueError(f"field {field!r} needs a type: add({field!r}, data_type)")
            field = RowField(field, data_type)
        self.fields.append(field)
        return self

    def _with(self, **attributes: Any) -> RowType:
        return super()._with(**{"fields": list(self.fields), **attributes})

    def __iter__(self) -> Iterator[RowField]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __getitem__(self, key: str | int | slice) -> RowField | RowType:
        if isinstance(key, str):
            for field in self.fields:
                if field.name == key:
                    return field
            raise KeyError(f"there is no field {key!r} in {self.sql}")
        if isinstance(key, slice):
            return RowType(self.fields[key])
        if isinstance(key, int):
            return self.fields[key]
        raise TypeError(f"a field is taken by name, position or slice, not by {key!r}")

    def __repr__(self) -> str:
        return f"RowType({','.join(map(repr, self.fields))})"

    def _syntax(self) -> str:
        return f"ROW<{', '.join(field._syntax() for field in self.fields)}>"

    def field_names(self) -> list[str]:
        """Return the names of the fields."""
        return self.names

    def field_types(self) -> list[DataType]:
        """Return the types of the fields."""
        return [field.data_type for field in self.fields]

    def need_conversion(self) -> bool:
        """Return True: a row becomes a tuple."""
        return True

    def to_sql_type(self, obj: Any) -> tuple[Any, ...] | None:
        """Return the number of the row's kind and its values in their internal form."""
        if obj is None:
            return None
        kind, values = internal.row_values(obj, self.names)
        types = (field.data_type for field in self.fields)
        return (kind.value, *(type_.to_sql_type(value) for type_, value in zip(types, values)))

    def from_sql_type(self, obj: Any) -> Row | None:
        """Return the row of values in their internal form."""
        if obj is None or isinstance(obj, Row):
            return obj
        values = [field.from_sql_type(value) for field, value in zip(self.fields, obj)]
        return _create_row(self.names, values, RowKind.INSERT)
