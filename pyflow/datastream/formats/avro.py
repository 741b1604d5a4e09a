"""Records of Avro, alone and in files."""

from __future__ import annotations

from pyflow.datastream.formats.avro_files import AvroBulkWriters, AvroInputFormat
from pyflow.datastream.formats.avro_rows import (
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
)
from pyflow.datastream.formats.avro_schemas import AvroSchema, GenericRecordAvroTypeInfo

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "GenericRecordAvroTypeInfo",
]
