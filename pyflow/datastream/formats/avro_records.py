"""Types of rows that have the fields of Avro's records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyflow.datastream.formats.avro_schemas import nullable
from pyflow.types import logical_types as types
from pyflow.types.logical_types import DataType, RowField, RowType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.datastream.formats.avro_schemas import AvroSchema

__all__ = ["avro_row_type"]

_PRIMITIVES: dict[str, DataType] = {
    "boolean": types.BooleanType(),
    "int": types.IntType(),
    "long": types.BigIntType(),
    "float": types.FloatType(),
    "double": types.DoubleType(),
    "bytes": types.VarBinaryType(types.MAX_LENGTH),
    "fixed": types.VarBinaryType(types.MAX_LENGTH),
    "string": types.VarCharType(types.MAX_LENGTH),
    "enum": types.VarCharType(types.MAX_LENGTH),
    "null": types.NullType(),
}
_LOGICAL: dict[str, DataType] = {
    "date": types.DateType(),
    "timestamp-millis": types.LocalZonedTimestampType(3),
    "timestamp-micros": types.LocalZonedTimestampType(6),
    "local-timestamp-millis": types.TimestampType(3),
    "local-timestamp-micros": types.TimestampType(6),
}


def avro_row_type(schema: AvroSchema) -> RowType:
    """Return the type of rows that has the fields of the records of a schema.

    Raises
    ------
    TableException
        If the schema is none of records, or has types that columns do not have.
    """
    if schema.root["type"] != "record":
        raise TableException(f"columns are made of records of Avro, not of {schema}")
    return _record(schema.root, ())


def _record(schema: Mapping[str, Any], around: tuple[str, ...]) -> RowType:
    name = schema["name"]
    if name in around:
        raise TableException(f"the record {name!r} of Avro is inside of itself")
    around = (*around, name)
    return RowType(
        [RowField(each["name"], _type(each["type"], around)) for each in schema["fields"]]
    )


def _type(union: Mapping[str, Any], around: tuple[str, ...]) -> DataType:
    schema, null = nullable(union)
    found = _plain(schema, around)
    return found if null is not None or schema["type"] == "null" else found.not_null()


def _plain(schema: Mapping[str, Any], around: tuple[str, ...]) -> DataType:
    kind, logical = schema["type"], schema.get("logicalType")
    if logical == "decimal":
        return types.DecimalType(schema["precision"], schema.get("scale", 0))
    if logical in _LOGICAL:
        return _LOGICAL[logical]
    if kind == "record":
        return _record(schema, around)
    if kind == "array":
        return types.ArrayType(_type(schema["items"], around))
    if kind == "map":
        text = types.VarCharType(types.MAX_LENGTH).not_null()
        return types.MapType(text, _type(schema["values"], around))
    return _PRIMITIVES[kind]
