"""How records become bytes, and bytes records; how files are written."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyflow.common.types import Row
from pyflow.util.charsets import java_decoded, java_encoding

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation
    from pyflow.types.logical_types import RowType

__all__ = [
    "BulkWriterFactory",
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]


# What programs for versions before 1.16 import from here.
_MOVED = {
    f"{name}Row{kind}Schema": f"pyflow.datastream.formats.{name.lower()}"
    for name in ("Avro", "Csv", "Json")
    for kind in ("Serialization", "Deserialization")
}


def __getattr__(name: str) -> Any:
    if name in _MOVED:
        return getattr(import_module(_MOVED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class SerializationSchema:
    """How records become bytes.

    It is pickled, and runs on executors. Programs may have schemas of their own, as in Java.
    """

    def serialize(self, element: Any) -> bytes | None:
        """Return the bytes of a record; None for no bytes, as a record of Kafka may have."""
        raise NotImplementedError(f"{type(self).__name__} does not make bytes of records")


class DeserializationSchema:
    """How bytes become records.

    It is pickled, and runs on executors. Programs may have schemas of their own, as in Java.
    """

    def deserialize(self, message: bytes | None) -> Any:
        """Return the record of some bytes; None where there is none.

        Parameters
        ----------
        message : bytes or None
            None for a record of Kafka without a value.

        Raises
        ------
        ValueError
            If the bytes are none of a record. The job fails.
        """
        raise NotImplementedError(f"{type(self).__name__} does not make records of bytes")

    def get_produced_type(self) -> TypeInformation | None:
        """Return the type of the records; None for any objects."""
        return None


def _present(message: bytes | None) -> bytes:
    if message is None:
        raise ValueError("there are no bytes")
    return bytes(message)


@dataclass(frozen=True)
class SimpleStringSchema(SerializationSchema, DeserializationSchema):
    """Records are texts.

    Bytes that are none of the encoding, and characters that it does not have, are replaced.

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

    def serialize(self, element: Any) -> bytes:
        """Return the bytes of a text.

        Raises
        ------
        TypeError
            If the record is no text.
        """
        if not isinstance(element, str):
            raise TypeError(
                f"SimpleStringSchema serializes strings, not {element!r} of type "
                f"{type(element).__name__}; map the elements to strings before the sink"
            )
        encoding, mark = java_encoding(self.charset)
        return mark + element.encode(encoding, "replace") if element else b""

    def deserialize(self, message: bytes | None) -> str:
        """Return the text of some bytes.

        Raises
        ------
        ValueError
            If there are none.
        """
        return java_decoded(_present(message), self.charset)

    def get_produced_type(self) -> TypeInformation:
        """Return the type of texts."""
        from pyflow.common.typeinfo import Types

        return Types.STRING()


@dataclass(frozen=True)
class ByteArraySchema(SerializationSchema, DeserializationSchema):
    """Records are bytes."""

    def serialize(self, element: Any) -> bytes:
        """Return the bytes that a record is.

        Raises
        ------
        TypeError
            If the record is none.
        """
        if not isinstance(element, (bytes, bytearray, memoryview)):
            raise TypeError(
                f"ByteArraySchema serializes bytes, not {element!r} of type "
                f"{type(element).__name__}"
            )
        return bytes(element)

    def deserialize(self, message: bytes | None) -> bytes | None:
        """Return the bytes; None where there are none."""
        return None if message is None else bytes(message)

    def get_produced_type(self) -> TypeInformation:
        """Return the type of bytes."""
        from pyflow.common.typeinfo import Types

        return Types.PRIMITIVE_ARRAY(Types.BYTE())


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


@dataclass(frozen=True)
class BulkWriterFactory:
    """How a file sink writes many records at once; made by the modules of formats.

    Parameters
    ----------
    format : str
        Spark's name of the format of files.
    row_type : RowType
        Of the records.
    options : mapping of str to str
        Spark's options of the format.
    """

    format: str
    row_type: RowType
    options: Mapping[str, str] = field(default_factory=dict)


class RowDataBulkWriterFactory(BulkWriterFactory):
    """How a file sink writes many rows at once."""

    def get_row_type(self) -> RowType:
        """Return the type of the rows."""
        return self.row_type


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
            raise ValueError(f"Field index must be non-negative, got: {self.field_index}")

    def serialize(self, element: Any) -> bytes:
        """Return the bytes of the field; none for None.

        Raises
        ------
        ValueError
            If the record has no such field, or the field no bytes.
        """
        if not isinstance(element, (Row, tuple, list)) or self.field_index >= len(element):
            raise ValueError(f"{element!r} has no field {self.field_index}")
        value = element[self.field_index]
        if value is None:
            return b""
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise ValueError(
                f"Field at index {self.field_index} must be of type bytes, but was "
                f"{type(value).__name__}"
            )
        return bytes(value)
