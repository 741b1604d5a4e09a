"""What is inside a type: the types of its elements, of its keys and values, or of its fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyflow.types.logical_types import DataType, RowField, RowType

__all__ = ["parts_of", "types_in", "with_parts"]


def parts_of(data_type: DataType) -> list[DataType]:
    """Return the types inside a type; none of an atomic type."""
    if isinstance(data_type, RowType):
        return data_type.field_types()
    return [each for each in vars(data_type).values() if isinstance(each, DataType)]


def with_parts(data_type: DataType, parts: Sequence[DataType]) -> DataType:
    """Return a type with others in place of `parts_of` it."""
    if isinstance(data_type, RowType):
        fields = zip(data_type.fields, parts)
        return data_type._with(
            fields=[RowField(field.name, each, field.description) for field, each in fields]
        )
    names = [name for name, each in vars(data_type).items() if isinstance(each, DataType)]
    return data_type._with(**dict(zip(names, parts)))


def types_in(data_type: DataType) -> Iterator[DataType]:
    """Return a type and all types inside it, at any depth."""
    yield data_type
    for part in parts_of(data_type):
        yield from types_in(part)
