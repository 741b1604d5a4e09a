"""What the state of a processor is asked for in the JVM: the requests, and their bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql.types import StructType

from pyflow.thread_mode import pyspark_worker
from pyflow.thread_mode.types import PICKLE_EXCHANGE, describe

__all__ = [
    "CHUNK_HEADER",
    "LONG",
    "VARIABLE_BITS",
    "Request",
    "State",
    "framed",
    "schema_of",
]

VARIABLE_BITS = 8

LONG = struct.Struct("<q")
#: Of an iterator's chunk: the iterator, or 0 after the last one, and how many bytes keys have.
CHUNK_HEADER = struct.Struct("<qq")


class Request:
    """Numbers of requests. What is above the lowest eight bits is the number of a variable."""

    # StateAccess.scala has these,
    NEXT_ROWS = 0
    PARSE_SCHEMA = 1
    OPEN_VALUE = 2
    OPEN_LIST = 3
    OPEN_MAP = 4
    DELETE_IF_EXISTS = 5
    REGISTER_TIMER = 6
    DELETE_TIMER = 7
    LIST_TIMERS = 8
    NEXT = 9
    EXISTS = 10
    CLEAR = 11
    CONVERT_VALUE = 12
    CONVERT_KEY = 13
    GET = 14
    UPDATE = 15
    APPEND = 16
    APPEND_ALL = 17
    PUT = 18
    GET_OF_KEY = 19
    CONTAINS_KEY = 20
    UPDATE_OF_KEY = 21
    REMOVE_KEY = 22
    KEYS = 23
    VALUES = 24
    ENTRIES = 25
    EARLIEST_TIMER = 32
    GET_OF_KEYS = 33
    UPDATE_OF_KEYS = 34
    LATE_ROWS = 35
    # and KeyedState.scala these.
    SET_STATE = 26
    CONVERT_GROUPING_KEY = 27
    SET_KEY = 28
    UNSET_KEY = 29
    EXPIRED_TIMERS = 30
    NEXT_TIMERS = 31


class State:
    """The state of a processor in the JVM."""

    def __init__(
        self, call_jvm: Callable[[int, bytes], bytes | None], row_codec: Any, binary_as_bytes: bool
    ) -> None:
        self._call_jvm = call_jvm
        self._row_codec = row_codec
        self._binary_as_bytes = binary_as_bytes

    def request(self, code: int, argument: bytes, failure: str) -> bytes | None:
        """Ask the JVM; `failure` begins the message if it throws."""
        try:
            return self._call_jvm(code, argument)
        except RuntimeError as error:
            raise PySparkRuntimeError(f"{failure}: {error}") from None

    def open(self, operation: int, name: str, ttl: int | None, failure: str, **schemas: str) -> int:
        """Open a variable; its number."""
        request = json.dumps({"name": name, "ttl": ttl, **schemas}).encode()
        answer = self.request(operation, request, failure)
        assert answer is not None
        number: int = LONG.unpack(answer)[0]
        return number

    def codec(self, schema: StructType) -> tuple[Any, Any, Any]:
        """As native/src/evaluation/row_codec.h has it."""
        codec: tuple[Any, Any, Any] = self._row_codec(
            describe(schema), PICKLE_EXCHANGE, self._binary_as_bytes
        )
        return codec

    def schema(self, schema: StructType | str) -> StructType:
        """A schema that may be a string."""
        if not isinstance(schema, str):
            return schema
        parsed = self.request(Request.PARSE_SCHEMA, schema.encode(), "Error parsing string schema")
        assert parsed is not None
        return schema_of(parsed.decode())


def framed(row: bytes) -> bytes:
    """A row after its size."""
    return LONG.pack(len(row)) + row


def schema_of(schema: str) -> StructType:
    """A schema, from Spark's JSON."""
    parsed = pyspark_worker.data_type_of(schema)
    assert isinstance(parsed, StructType)
    return parsed
