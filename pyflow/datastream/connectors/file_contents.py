"""What elements become in the files of a sink."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyflow.datastream.connectors.files import FileKind
from pyflow.datastream.formats.row_columns import RowEncoder
from pyflow.datastream.formats.text_lines import LineEncoder

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from pyflow.common.serialization import BulkWriterFactory, Encoder
    from pyflow.common.typeinfo import TypeInformation

__all__ = ["Contents", "Lines", "contents_of", "text_contents"]


class Contents(ABC):
    """What elements become in files.

    Parameters
    ----------
    kind : FileKind
        How Spark writes it.
    """

    def __init__(self, kind: FileKind) -> None:
        self.kind = kind

    @abstractmethod
    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[Any, ...]]:
        """Return what makes columns of an element; it is pickled, and runs on executors."""

    @abstractmethod
    def schema(self) -> str | StructType:
        """Return the columns."""


class Lines(Contents):
    """A line for each element.

    Parameters
    ----------
    encoder : callable
        Makes of a type what makes the bytes of lines.
    kind : FileKind
    """

    def __init__(
        self,
        encoder: Callable[[TypeInformation | None], Callable[[Any, int | None], tuple[bytes]]],
        kind: FileKind,
    ) -> None:
        super().__init__(kind)
        self._encoder = encoder

    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[Any, ...]]:
        """Return what makes the bytes of lines."""
        return self._encoder(type_info)

    def schema(self) -> str:
        """Return the column of lines."""
        return "line BINARY"


class _Columns(Contents):
    """Columns of a type of rows."""

    def __init__(self, factory: BulkWriterFactory) -> None:
        super().__init__(FileKind(factory.format, factory.options))
        self._row_type = factory.row_type

    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[Any, ...]]:
        from pyflow.datastream.formats.row_types import shape_in_session

        return RowEncoder(shape_in_session(self._row_type))

    def schema(self) -> StructType:
        from pyflow.datastream.formats.row_types import columns_of

        return columns_of(self._row_type)


def text_contents(encoder: Encoder) -> Contents:
    """Return the lines that an encoder writes."""
    charset = encoder.charset
    return Lines(lambda type_info: LineEncoder(charset, type_info), FileKind("text"))


def contents_of(factory: BulkWriterFactory) -> Contents:
    """Return what a writer of many records makes of them."""
    made = getattr(factory, "contents", None)
    return _Columns(factory) if made is None else made()
