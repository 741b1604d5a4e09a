"""Names and types of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pyflow.types.logical_types import DataType, RowField, RowType
from pyflow.types.strings import attribute_text
from pyflow.types.values import stored_type
from pyflow.util.exceptions import TableException

__all__ = ["TableSchema"]


class TableSchema:
    """Names and types of the columns of a table. `Schema` and `ResolvedSchema` succeed it.

    Parameters
    ----------
    field_names : list of str
        The columns' names, each once.
    data_types : list of DataType
        Their types.

    Raises
    ------
    TableException
        If there are more of the ones than of the others, or a name is there twice.
    """

    def __init__(
        self,
        field_names: Sequence[str] | None = None,
        data_types: Sequence[DataType] | None = None,
        _attributes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._attributes = _attributes
        self._names = list(field_names or ())
        self._types = list(map(stored_type, data_types or ()))
        if len(self._names) != len(self._types):
            raise TableException(f"{len(self._names)} columns have {len(self._types)} types")
        twice = sorted({name for name in self._names if self._names.count(name) > 1})
        if twice:
            raise TableException(f"there is more than one column of the names {twice}")

    def copy(self) -> TableSchema:
        """Return an equal schema."""
        return TableSchema(self._names, self._types)

    def get_field_data_types(self) -> list[DataType]:
        """Return the types of the columns."""
        return list(self._types)

    def get_field_data_type(self, field: int | str) -> DataType | None:
        """Return the type of a column, by position or name; None if there is none.

        Raises
        ------
        TypeError
            If it is asked for by something else.
        """
        if isinstance(field, str):
            field = self._names.index(field) if field in self._names else -1
        if not isinstance(field, int):
            raise TypeError(f"a column is asked for by position or name, not by {field!r}")
        return self._types[field] if 0 <= field < len(self._types) else None

    def get_field_count(self) -> int:
        """Return the number of columns."""
        return len(self._names)

    def get_field_names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._names)

    def get_field_name(self, field_index: int) -> str | None:
        """Return the name of the column at a position; None if there is none."""
        return self._names[field_index] if 0 <= field_index < len(self._names) else None

    def to_row_data_type(self) -> RowType:
        """Return the type of the table's rows."""
        fields = [RowField(name, type_) for name, type_ in zip(self._names, self._types)]
        return RowType(fields, nullable=False)

    def __repr__(self) -> str:
        lines = (
            f" |-- {name}: {attribute_text(data_type, self._attributes.get(name))}\n"
            for name, data_type in zip(self._names, self._types)
        )
        return f"root\n{''.join(lines)}"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TableSchema)
            and self._names == other._names
            and self._types == other._types
        )

    def __hash__(self) -> int:
        return hash((tuple(self._names), tuple(self._types)))

    @classmethod
    def builder(cls) -> TableSchema.Builder:
        """Begin a schema without columns."""
        return TableSchema.Builder()

    class Builder:
        """Builds a `TableSchema`."""

        def __init__(self) -> None:
            self._fields: list[tuple[str, DataType]] = []

        def field(self, name: str, data_type: DataType) -> TableSchema.Builder:
            """Append a column, and return the builder."""
            self._fields.append((name, data_type))
            return self

        def build(self) -> TableSchema:
            """Return the schema."""
            return TableSchema(
                [name for name, _ in self._fields], [data_type for _, data_type in self._fields]
            )
