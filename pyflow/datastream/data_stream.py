"""Streams of Python objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflow.common.typeinfo import TypeInformation, Types

if TYPE_CHECKING:
    from pyflow.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["DataStream"]


class DataStream:
    """The objects of a collection, as a stream that ends.

    Made by :meth:`StreamExecutionEnvironment.from_collection`.

    Parameters
    ----------
    environment : StreamExecutionEnvironment
    elements : sequence
    type_info : TypeInformation or None
        Their type; None for objects of any kind.
    """

    def __init__(
        self,
        environment: StreamExecutionEnvironment,
        elements: Sequence[Any],
        type_info: TypeInformation | None,
    ) -> None:
        self._environment = environment
        self._elements = list(elements)
        self._type_info = type_info

    def get_type(self) -> TypeInformation:
        """Return the type of the objects."""
        return Types.PICKLED_BYTE_ARRAY() if self._type_info is None else self._type_info

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return the environment that the stream was made by."""
        return self._environment
