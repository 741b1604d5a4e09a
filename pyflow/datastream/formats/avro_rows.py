"""Rows that are records of Avro, in its binary encoding."""

from __future__ import annotations

import struct
from typing import Any, NoReturn

from pyflow.common.serialization import DeserializationSchema, SerializationSchema
from pyflow.common.typeinfo import RowTypeInfo
from pyflow.datastream.formats.avro_binary import Read, Write, record_reader, record_writer
from pyflow.datastream.formats.avro_schemas import AvroSchema, type_of_schema
from pyflow.datastream.formats.rows import Compiled
from pyflow.util.exceptions import TableException

__all__ = ["AvroRowDeserializationSchema", "AvroRowSerializationSchema"]

_SHOWN_BYTES = 100


def _schema(record_class: str | None, avro_schema_string: str | None) -> AvroSchema:
    if record_class is None and avro_schema_string is None:
        raise TypeError("record_class or avro_schema_string should be specified.")
    if avro_schema_string is None:
        _refuse(record_class)
    return AvroSchema.parse_string(avro_schema_string)


def _refuse(record_class: str | None) -> NoReturn:
    raise TableException(
        f"the Avro record {record_class!r} is a Java class, which is not supported: give its "
        "schema as avro_schema_string"
    )


class AvroRowDeserializationSchema(Compiled, DeserializationSchema):
    """Makes rows of records of Avro.

    Times of Avro are dates and times in UTC without a zone, as in Flink.

    Parameters
    ----------
    record_class : str, optional
        A Java class; not supported without a schema.
    avro_schema_string : str
        The schema, in JSON. A field may be of a union of one type and null.

    Raises
    ------
    TypeError
        If neither is given.
    ValueError
        If the schema is none.
    TableException
        If it is none of records, or has types that rows do not have.
    """

    def __init__(
        self, record_class: str | None = None, avro_schema_string: str | None = None
    ) -> None:
        self._schema = _schema(record_class, avro_schema_string)
        self._type_info = type_of_schema(self._schema)

    def get_produced_type(self) -> RowTypeInfo:
        """Return the type of the rows."""
        return self._type_info

    def deserialize(self, message: bytes | None) -> Any:
        """Return the row of a record.

        Raises
        ------
        ValueError
            If the bytes are none of a record of the schema.
        """
        read: Read = self.made("reader", lambda: record_reader(self._schema.root))
        message = bytes(message or b"")
        try:
            return read(message, 0)[0]
        except (ValueError, OverflowError, struct.error) as error:
            raise ValueError(
                f"Failed to deserialize Avro record {message[:_SHOWN_BYTES]!r}: {error}"
            ) from error


class AvroRowSerializationSchema(Compiled, SerializationSchema):
    """Makes records of Avro of rows.

    Parameters
    ----------
    record_class : str, optional
        A Java class; not supported without a schema.
    avro_schema_string : str
        The schema, in JSON. A field may be of a union of one type and null.

    Raises
    ------
    TypeError
        If neither is given.
    ValueError
        If the schema is none.
    TableException
        If it is none of records, or has types that rows do not have.
    """

    def __init__(
        self, record_class: str | None = None, avro_schema_string: str | None = None
    ) -> None:
        self._schema = _schema(record_class, avro_schema_string)
        type_of_schema(self._schema)

    def serialize(self, element: Any) -> bytes:
        """Return the record of a row.

        Raises
        ------
        ValueError
            If the row has other fields than the schema, or values of other types.
        """
        write: Write = self.made("writer", lambda: record_writer(self._schema.root))
        buffer = bytearray()
        try:
            write(buffer, element)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"Failed to serialize row {element!r}: {error}") from error
        return bytes(buffer)
