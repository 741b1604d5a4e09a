"""Descriptions of how the DataStream API turns records into bytes and back."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Any

from pyflow.util.unsupported import unsupported

__all__ = [
    "BulkWriterFactory",
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]


class SerializationSchema:
    """How records become bytes."""


class DeserializationSchema:
    """How bytes become records."""


@dataclass(frozen=True)
class SimpleStringSchema(SerializationSchema, DeserializationSchema):
    """Records are texts.

    Parameters
    ----------
    charset : str
        The encoding of the bytes.

    Raises
    ------
    LookupError
        If there is no such encoding.
    """

    charset: str = "UTF-8"

    def __post_init__(self) -> None:
        codecs.lookup(self.charset)


@dataclass(frozen=True)
class ByteArraySchema(SerializationSchema, DeserializationSchema):
    """Records are bytes."""


@dataclass(frozen=True)
class Encoder:
    """How a file sink writes a record; made by `simple_string_encoder`."""

    charset: str

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder:
        """Return the encoder that writes a record's text and a line end.

        Raises
        ------
        LookupError
            If there is no such encoding.
        """
        codecs.lookup(charset_name)
        return Encoder(charset_name)


@unsupported("it is a Java class of Flink; name a format, and Spark writes its files")
class BulkWriterFactory:
    """A writer of files that is a Java class of Flink."""

    def __init__(self, j_bulk_writer_factory: Any) -> None: ...


@dataclass(frozen=True)
class RowFieldExtractorSchema(SerializationSchema):
    """A record's bytes are one field of a row, which holds bytes.

    Parameters
    ----------
    field_index : int
        The field's position, from 0.

    Raises
    ------
    ValueError
        If the position is negative.
    """

    field_index: int

    def __post_init__(self) -> None:
        if self.field_index < 0:
            raise ValueError(f"the position of a field is not negative, as {self.field_index} is")
