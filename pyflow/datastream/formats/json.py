"""Rows that are JSON objects."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pyflow.common.serialization import DeserializationSchema, SerializationSchema
from pyflow.common.typeinfo import RowTypeInfo, TypeInformation
from pyflow.datastream.formats.json_schema import type_of_schema
from pyflow.datastream.formats.json_values import (
    SHOWN,
    Read,
    Reader,
    Write,
    decimal_node,
    has_decimals,
    no_constant,
    row_writer,
)
from pyflow.datastream.formats.rows import Compiled

__all__ = ["JsonRowDeserializationSchema", "JsonRowSerializationSchema"]


class JsonRowDeserializationSchema(Compiled, DeserializationSchema):
    """Makes rows of JSON objects, by the names of fields; made by `builder`.

    A field that is missing, or JSON's null, is None.
    """

    def __init__(
        self, type_info: RowTypeInfo, fail_on_missing_field: bool, ignore_parse_errors: bool
    ) -> None:
        self._type_info = type_info
        self._fail_on_missing_field = fail_on_missing_field
        self._ignore_parse_errors = ignore_parse_errors
        self._compile()

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        """Return a builder of the schema."""
        return JsonRowDeserializationSchema.Builder()

    class Builder:
        """Builds a `JsonRowDeserializationSchema`."""

        def __init__(self) -> None:
            self._type_info: TypeInformation | None = None
            self._fail_on_missing_field = False
            self._ignore_parse_errors = False

        def type_info(self, type_info: TypeInformation) -> JsonRowDeserializationSchema.Builder:
            """Set the type of the rows.

            Parameters
            ----------
            type_info : TypeInformation
                ``Types.ROW_NAMED(...)``.
            """
            self._type_info = type_info
            return self

        def json_schema(self, json_schema: str) -> JsonRowDeserializationSchema.Builder:
            """Set the type of the rows by a JSON schema.

            Numbers of JSON schemas are decimal numbers of any size.

            Raises
            ------
            TypeError
                If the schema is None.
            ValueError
                If the schema is none, or has what rows do not have.
            """
            if json_schema is None:
                raise TypeError("The json_schema must not be None.")
            self._type_info = type_of_schema(json_schema)
            return self

        def fail_on_missing_field(self) -> JsonRowDeserializationSchema.Builder:
            """Have a missing field be an error instead of None."""
            self._fail_on_missing_field = True
            return self

        def ignore_parse_errors(self) -> JsonRowDeserializationSchema.Builder:
            """Have None for fields that are no values of their type; leave out what is no JSON."""
            self._ignore_parse_errors = True
            return self

        def build(self) -> JsonRowDeserializationSchema:
            """Return the schema.

            Raises
            ------
            TypeError
                If no type is set.
            ValueError
                If the type is none of rows, or missing fields are both errors and ignored.
            """
            if self._type_info is None:
                raise TypeError("the type of the rows is not set; call type_info() first")
            if self._fail_on_missing_field and self._ignore_parse_errors:
                raise ValueError(
                    "JSON format doesn't support failOnMissingField and ignoreParseErrors are both "
                    "true."
                )
            return JsonRowDeserializationSchema(
                _rows(self._type_info), self._fail_on_missing_field, self._ignore_parse_errors
            )

    def get_produced_type(self) -> RowTypeInfo:
        """Return the type of the rows."""
        return self._type_info

    def deserialize(self, message: bytes | None) -> Any:
        """Return the row of a JSON object; None for JSON's null.

        Raises
        ------
        ValueError
            If the bytes are no JSON object, or a field is no value of its type, unless errors are
            ignored.
        """
        read, decode = self.made("reader", self._compile)
        message = message or b""
        try:
            text = message.decode(json.detect_encoding(message))
            if text.isspace() or not text:
                raise ValueError("there is no JSON object")
            node = decode(text, len(text) - len(text.lstrip(" \t\n\r")))[0]
            return None if node is None else read(node)
        except (ValueError, TypeError, OverflowError, ArithmeticError, RecursionError) as error:
            if self._ignore_parse_errors:
                return None
            shown = message[:SHOWN].decode("utf-8", "replace")
            raise ValueError(f"Failed to deserialize JSON '{shown}': {error}") from error

    def _compile(self) -> tuple[Read, Callable[[str, int], tuple[Any, int]]]:
        reader = Reader(self._fail_on_missing_field, self._ignore_parse_errors)
        read = reader.row(self._type_info)
        # With decimal numbers, all numbers with a fraction keep their digits, as in Flink.
        parse_float = decimal_node if has_decimals(self._type_info) else None
        decoder = json.JSONDecoder(parse_float=parse_float, parse_constant=no_constant)
        return read, decoder.raw_decode


class JsonRowSerializationSchema(Compiled, SerializationSchema):
    """Makes JSON objects of rows; made by `builder`."""

    def __init__(self, type_info: RowTypeInfo) -> None:
        self._type_info = type_info
        self._compile()

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        """Return a builder of the schema."""
        return JsonRowSerializationSchema.Builder()

    class Builder:
        """Builds a `JsonRowSerializationSchema`."""

        def __init__(self) -> None:
            self._type_info: TypeInformation | None = None

        def with_type_info(self, type_info: TypeInformation) -> JsonRowSerializationSchema.Builder:
            """Set the type of the rows.

            Parameters
            ----------
            type_info : TypeInformation
                ``Types.ROW_NAMED(...)``.
            """
            self._type_info = type_info
            return self

        def build(self) -> JsonRowSerializationSchema:
            """Return the schema.

            Raises
            ------
            TypeError
                If no type is set.
            ValueError
                If the type is none of rows.
            """
            if self._type_info is None:
                raise TypeError("Typeinfo should be set.")
            return JsonRowSerializationSchema(_rows(self._type_info))

    def serialize(self, element: Any) -> bytes:
        """Return the JSON object of a row.

        Raises
        ------
        ValueError, TypeError
            If the row has other fields than the type, or values of other types.
        """
        write = self.made("writer", self._compile)
        try:
            text: str = write(element)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(
                f"Could not serialize row {element!r} as {self._type_info!r}. Make sure that the "
                f"schema matches the input: {error}"
            ) from error
        return text.encode("utf-8", "replace")

    def _compile(self) -> Write:
        return row_writer(self._type_info)


def _rows(type_info: TypeInformation) -> RowTypeInfo:
    if not isinstance(type_info, RowTypeInfo):
        raise ValueError(f"Only RowTypeInfo is supported, not {type_info!r}")
    return type_info
