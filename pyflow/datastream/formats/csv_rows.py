"""Rows that are lines of CSV."""

from __future__ import annotations

import base64
import binascii
import datetime
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from operator import index
from typing import Any

from pyflow.common.serialization import DeserializationSchema, SerializationSchema
from pyflow.common.time import Instant
from pyflow.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    LocalTimeTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
    Types,
    _ElementsTypeInfo,
)
from pyflow.datastream.formats import java_texts as java
from pyflow.datastream.formats.csv_lines import CsvLines
from pyflow.datastream.formats.rows import Compiled, row_of, row_values

__all__ = ["CsvRowDeserializationSchema", "CsvRowSerializationSchema"]

_Read = Callable[[str], Any]
_Write = Callable[[Any], str]

_SHOWN = 500
_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}
_BYTES = PrimitiveArrayTypeInfo(Types.BYTE())
_EPOCH = datetime.datetime(1970, 1, 1)
_LINE_ENDS = ("\n", "\r", "\r\n", "")
_FRACTIONS = (BasicType.BIG_DEC, BasicType.FLOAT, BasicType.DOUBLE)
# What is never in quotes.
_PLAIN = (*_BITS, BasicType.BIG_INT, *_FRACTIONS, BasicType.BOOLEAN)


@dataclass(frozen=True)
class _Settings:
    """What both schemas have."""

    lines: CsvLines = field(default_factory=CsvLines)
    elements: str = ";"
    null: str | None = None
    lenient: bool = False
    end: str = "\n"


def _character(what: str, text: str) -> str:
    """Return the first character of a text, as Java's builders take it."""
    if not text:
        raise ValueError(f"the {what} is one character, not an empty text")
    return text[0]


def _given(what: str, value: str) -> str:
    if value is None:
        raise TypeError(f"{what} must not be null.")
    return value


def _rows(type_info: TypeInformation) -> RowTypeInfo:
    if type_info is None:
        raise TypeError("Type information must not be None")
    if not isinstance(type_info, RowTypeInfo):
        raise ValueError(f"Row type information expected, not {type_info!r}.")
    for name, each in zip(type_info.get_field_names(), type_info.get_field_types()):
        _check(each, name)
    return type_info


def _check(type_info: TypeInformation, name: str) -> None:
    """Raise for types that lines do not have: rows and arrays of simple types at most."""
    if isinstance(type_info, RowTypeInfo):
        inner = type_info.get_field_types()
    elif isinstance(type_info, (BasicArrayTypeInfo, ObjectArrayTypeInfo)):
        inner = [type_info._element_type]
    elif not _is_simple(type_info):
        raise ValueError(f"Unsupported type information '{type_info!r}' for field '{name}'.")
    else:
        return
    for each in inner:
        if not _is_simple(each):
            raise ValueError(
                "Only simple types are supported in the second level nesting of fields "
                f"'{name}' but was: {each!r}"
            )


def _is_simple(type_info: TypeInformation) -> bool:
    if isinstance(type_info, BasicTypeInfo):
        return type_info._basic_type != BasicType.CHAR
    times = (DateTypeInfo, TimeTypeInfo, TimestampTypeInfo, LocalTimeTypeInfo)
    return isinstance(type_info, times) or type_info == _BYTES


class CsvRowDeserializationSchema(Compiled, DeserializationSchema):
    """Makes rows of lines of CSV; made by its ``Builder``."""

    def __init__(self, type_info: RowTypeInfo, settings: _Settings) -> None:
        self._type_info = type_info
        self._settings = settings

    class Builder:
        """Builds a `CsvRowDeserializationSchema`.

        Parameters
        ----------
        type_info : TypeInformation
            Of the rows: ``Types.ROW_NAMED(...)``. Fields may be rows and arrays of simple types.

        Raises
        ------
        TypeError
            If the type is None.
        ValueError
            If it is none of rows, or lines do not have a type of its fields.
        """

        def __init__(self, type_info: TypeInformation) -> None:
            self._type_info = _rows(type_info)
            self._settings = _Settings()

        def _set(self, **values: Any) -> CsvRowDeserializationSchema.Builder:
            self._settings = replace(self._settings, **values)
            return self

        def _set_lines(self, **values: Any) -> CsvRowDeserializationSchema.Builder:
            return self._set(lines=replace(self._settings.lines, **values))

        def set_field_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            """Set the character between values, ``,`` by default."""
            return self._set_lines(delimiter=_character("field delimiter", delimiter))

        def set_allow_comments(self, allow_comments: bool) -> CsvRowDeserializationSchema.Builder:
            """Set whether lines that begin with ``#`` are comments, and no rows."""
            return self._set_lines(comments=allow_comments)

        def set_array_element_delimiter(
            self, delimiter: str
        ) -> CsvRowDeserializationSchema.Builder:
            """Set what is between elements of arrays and fields of rows, ``;`` by default."""
            return self._set(elements=_given("Array element delimiter", delimiter))

        def set_quote_character(self, c: str) -> CsvRowDeserializationSchema.Builder:
            """Set the character around values, ``"`` by default."""
            return self._set_lines(quote=_character("quote character", c))

        def set_escape_character(self, c: str) -> CsvRowDeserializationSchema.Builder:
            """Set the character that takes the meaning of the next one; none by default."""
            return self._set_lines(escape=_character("escape character", c))

        def set_null_literal(self, null_literal: str) -> CsvRowDeserializationSchema.Builder:
            """Set the text that is None; none by default."""
            return self._set(null=_given("Null literal", null_literal))

        def set_ignore_parse_errors(
            self, ignore_parse_errors: bool
        ) -> CsvRowDeserializationSchema.Builder:
            """Set whether wrong fields are None, and wrong lines left out."""
            return self._set(lenient=ignore_parse_errors)

        def build(self) -> CsvRowDeserializationSchema:
            """Return the schema."""
            return CsvRowDeserializationSchema(self._type_info, self._settings)

    def get_produced_type(self) -> RowTypeInfo:
        """Return the type of the rows."""
        return self._type_info

    def deserialize(self, message: bytes | None) -> Any:
        """Return the row of the first line of some bytes.

        Raises
        ------
        ValueError
            If they are no line with values of the types, unless errors are ignored.
        """
        settings = self._settings
        read = self.made("reader", self._compile)
        message = message or b""
        try:
            values = settings.lines.values(message.removeprefix(BOM_UTF8).decode("utf-8"))
            if values is None:
                raise ValueError("there is no line")
            if len(values) > self._type_info_length():
                raise ValueError(f"Too many entries: expected at most {self._type_info_length()}")
            return read(values)
        except (ValueError, TypeError, OverflowError, ArithmeticError) as error:
            if settings.lenient:
                return None
            shown = message[:_SHOWN].decode("utf-8", "replace")
            raise ValueError(f"Failed to deserialize CSV row '{shown}': {error}") from error

    def _type_info_length(self) -> int:
        return len(self._type_info.get_field_types())

    def _compile(self) -> Callable[[list[str]], Any]:
        return _Reader(self._settings).row(self._type_info)


class _Reader:
    """Makes functions that read values of types."""

    def __init__(self, settings: _Settings) -> None:
        self._null = settings.null
        self._lenient = settings.lenient
        self._elements = settings.elements

    def row(self, type_info: RowTypeInfo) -> Callable[[list[str]], Any]:
        """Return what makes a row of the texts of its fields."""
        readers = [self._nullable(each) for each in type_info.get_field_types()]
        make, lenient = row_of(type_info.get_field_names()), self._lenient

        def read(texts: list[str]) -> Any:
            if len(texts) != len(readers) and not lenient:
                raise ValueError(
                    f"Row length mismatch. {len(readers)} fields expected but was {len(texts)}."
                )
            values = [read_field(text) for read_field, text in zip(readers, texts)]
            return make(values + [None] * (len(readers) - len(values)))

        return read

    def _nullable(self, type_info: TypeInformation) -> _Read:
        read, null, lenient = self._plain(type_info), self._null, self._lenient

        def read_nullable(text: str) -> Any:
            if text == null:
                return None
            try:
                return read(text)
            except (ValueError, TypeError, OverflowError, ArithmeticError):
                if lenient:
                    return None
                raise

        return read_nullable

    def _plain(self, type_info: TypeInformation) -> _Read:
        if isinstance(type_info, BasicTypeInfo):
            basic_type = type_info._basic_type
            if basic_type in _BITS:
                bits = _BITS[basic_type]
                return lambda text: java.integer(text, bits)
            return _BASIC_READERS[basic_type]
        if isinstance(type_info, RowTypeInfo):
            return self._inner_row(type_info)
        if type_info == _BYTES:
            return _bytes
        if isinstance(type_info, _ElementsTypeInfo):
            return self._array(type_info)
        if isinstance(type_info, LocalTimeTypeInfo):
            return _LOCAL_READERS[type_info._time_type]
        if isinstance(type_info, DateTypeInfo):
            return java.sql_date
        return java.sql_time if isinstance(type_info, TimeTypeInfo) else java.sql_timestamp

    def _array(self, type_info: _ElementsTypeInfo) -> _Read:
        read, delimiter = self._nullable(type_info._element_type), self._elements
        if not delimiter:
            return lambda text: [read(text)] if text else []
        return lambda text: [read(each) for each in text.split(delimiter)] if text else []

    def _inner_row(self, type_info: RowTypeInfo) -> _Read:
        read, delimiter = self.row(type_info), self._elements
        return lambda text: read(text.split(delimiter)) if text else None


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{text[:_SHOWN]!r} is no base64: {error}") from error


def _instant(text: str) -> Instant:
    after = java.iso_timestamp(text, " ") - _EPOCH
    return Instant(after.days * 86_400 + after.seconds, after.microseconds * 1000)


_BASIC_READERS: dict[BasicType, _Read] = {
    BasicType.STRING: str,
    BasicType.BOOLEAN: java.boolean,
    BasicType.FLOAT: lambda text: java.float_of_32_bits(java.double(text)),
    BasicType.DOUBLE: java.double,
    BasicType.BIG_INT: java.whole_number,
    BasicType.BIG_DEC: java.big_decimal,
    BasicType.INSTANT: _instant,
}
_LOCAL_READERS: dict[LocalTimeTypeInfo.TimeType, _Read] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: java.iso_date,
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: datetime.time.fromisoformat,
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: datetime.datetime.fromisoformat,
}


class CsvRowSerializationSchema(Compiled, SerializationSchema):
    """Makes lines of CSV of rows; made by its ``Builder``."""

    def __init__(self, type_info: RowTypeInfo, settings: _Settings) -> None:
        self._type_info = type_info
        self._settings = settings

    class Builder:
        """Builds a `CsvRowSerializationSchema`.

        Parameters
        ----------
        type_info : TypeInformation
            Of the rows: ``Types.ROW_NAMED(...)``. Fields may be rows and arrays of simple types.

        Raises
        ------
        TypeError
            If the type is None.
        ValueError
            If it is none of rows, or lines do not have a type of its fields.
        """

        def __init__(self, type_info: TypeInformation) -> None:
            self._type_info = _rows(type_info)
            self._settings = _Settings()

        def _set(self, **values: Any) -> CsvRowSerializationSchema.Builder:
            self._settings = replace(self._settings, **values)
            return self

        def _set_lines(self, **values: Any) -> CsvRowSerializationSchema.Builder:
            return self._set(lines=replace(self._settings.lines, **values))

        def set_field_delimiter(self, c: str) -> CsvRowSerializationSchema.Builder:
            """Set the character between values, ``,`` by default."""
            return self._set_lines(delimiter=_character("field delimiter", c))

        def set_line_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            r"""Set the end of a line: ``\n``, which is the default, ``\r``, ``\r\n`` or none.

            Raises
            ------
            ValueError
                If it is another one.
            """
            if _given("Delimiter", delimiter) not in _LINE_ENDS:
                raise ValueError(
                    "Unsupported new line delimiter. Only \\n, \\r, \\r\\n, or empty string are "
                    "supported."
                )
            return self._set(end=delimiter)

        def set_array_element_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            """Set what is between elements of arrays and fields of rows, ``;`` by default."""
            return self._set(elements=_given("Delimiter", delimiter))

        def disable_quote_character(self) -> CsvRowSerializationSchema.Builder:
            """Have no quotes, and no escapes."""
            return self._set_lines(quote=None)

        def set_quote_character(self, c: str) -> CsvRowSerializationSchema.Builder:
            """Set the character around values that may need it, ``"`` by default."""
            return self._set_lines(quote=_character("quote character", c))

        def set_escape_character(self, c: str) -> CsvRowSerializationSchema.Builder:
            """Set the character that is doubled in quotes, as quotes are; none by default."""
            return self._set_lines(escape=_character("escape character", c))

        def set_null_literal(self, s: str) -> CsvRowSerializationSchema.Builder:
            """Set the text for None, empty by default. It is never in quotes."""
            return self._set(null=s)

        def build(self) -> CsvRowSerializationSchema:
            """Return the schema."""
            return CsvRowSerializationSchema(self._type_info, self._settings)

    def serialize(self, element: Any) -> bytes:
        """Return the line of a row.

        Raises
        ------
        ValueError
            If the row has other fields than the type, or values of other types.
        """
        write = self.made("writer", self._compile)
        try:
            line: str = write(element)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"Could not serialize row {element!r}: {error}") from error
        return line.encode("utf-8", "replace")

    def _compile(self) -> _Write:
        settings, type_info = self._settings, self._type_info
        names = type_info.get_field_names()
        writers = [_field_writer(each, settings) for each in type_info.get_field_types()]
        line, end = settings.lines.line, settings.end

        def write(value: Any) -> str:
            values = row_values(value, names)
            return line([put(each) for put, each in zip(writers, values)]) + end

        return write


def _field_writer(type_info: TypeInformation, settings: _Settings) -> _Write:
    """Return what writes a field of a line."""
    write, quoted = _writer(type_info, settings), settings.lines.value
    null = settings.null or ""
    if isinstance(type_info, BasicTypeInfo) and type_info._basic_type in _PLAIN:
        return lambda value: null if value is None else write(value)
    return lambda value: null if value is None else quoted(write(value))


def _writer(type_info: TypeInformation, settings: _Settings) -> _Write:
    """Return what writes a value without quotes."""
    null, delimiter = settings.null or "", settings.elements
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC_WRITERS[type_info._basic_type]
    if isinstance(type_info, RowTypeInfo):
        names = type_info.get_field_names()
        writers = [_writer(each, settings) for each in type_info.get_field_types()]

        def write_row(value: Any) -> str:
            values = zip(writers, row_values(value, names))
            return delimiter.join([null if each is None else put(each) for put, each in values])

        return write_row
    if type_info == _BYTES:
        return lambda value: base64.b64encode(bytes(value)).decode()
    if isinstance(type_info, _ElementsTypeInfo):
        put = _writer(type_info._element_type, settings)
        return lambda value: delimiter.join([null if each is None else put(each) for each in value])
    if isinstance(type_info, TimestampTypeInfo):
        return lambda value: java.timestamp_text(java.local_timestamp(value), " ", ".0")
    if isinstance(type_info, TimeTypeInfo):
        return lambda value: str(value.replace(microsecond=0, tzinfo=None))
    if isinstance(type_info, LocalTimeTypeInfo):
        return lambda value: str(value.isoformat())
    return lambda value: str(value.isoformat())


def _write_instant(value: Instant) -> str:
    time = _EPOCH + datetime.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
    return f"{java.timestamp_text(time, ' ', '')}Z"


_BASIC_WRITERS: dict[BasicType, _Write] = {
    BasicType.STRING: str,
    BasicType.BOOLEAN: lambda value: "true" if value else "false",
    BasicType.BYTE: lambda value: str(index(value)),
    BasicType.SHORT: lambda value: str(index(value)),
    BasicType.INT: lambda value: str(index(value)),
    BasicType.LONG: lambda value: str(index(value)),
    BasicType.FLOAT: java.float_text,
    BasicType.DOUBLE: java.double_text,
    BasicType.BIG_INT: lambda value: str(index(value)),
    BasicType.BIG_DEC: lambda value: str(value if isinstance(value, Decimal) else Decimal(value)),
    BasicType.INSTANT: _write_instant,
}
