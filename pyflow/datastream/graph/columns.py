"""Elements of a stream as columns of Spark, and rows of Spark as elements: the way to tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as spark

from pyflow.common.types import Row, RowKind
from pyflow.datastream.connectors.base import Boundedness, Sink, Source, SourceRows
from pyflow.datastream.formats.row_columns import RowDecoder, RowEncoder
from pyflow.datastream.formats.row_types import columns_of, row_type_info, shape_in_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.session.context import Context
    from pyflow.types.logical_types import RowType

__all__ = ["KIND_COLUMN", "TIME_COLUMN", "ColumnsSink", "ColumnsSource"]

#: Behind the columns of an element: its timestamp in milliseconds, and the number of its RowKind.
TIME_COLUMN = "pyflow_timestamp"
KIND_COLUMN = "pyflow_kind"

_KINDS = list(RowKind)


class ColumnsSink(Sink):
    """The columns of elements, which stay in Spark.

    Parameters
    ----------
    row_type : RowType
        Of the elements.
    is_row : bool
        Whether they are rows; otherwise one is the only value of a row.
    context : Context
    """

    def __init__(self, row_type: RowType, is_row: bool, context: Context) -> None:
        self._row_type = row_type
        self._is_row = is_row
        self._context = context

    def schema(self, type_info: TypeInformation | None) -> spark.StructType:
        """Return the columns, with timestamp and kind."""
        fields = columns_of(self._row_type).fields
        return spark.StructType(
            [
                *fields,
                spark.StructField(TIME_COLUMN, spark.LongType()),
                spark.StructField(KIND_COLUMN, spark.ByteType()),
            ]
        )

    def encoder(
        self, type_info: TypeInformation | None
    ) -> Callable[[Any, int | None], tuple[Any, ...]]:
        """Return what makes the columns of an element."""
        return _Encoder(RowEncoder(shape_in_session(self._row_type, self._context)), self._is_row)

    def write(self, frame: DataFrame, context: Context, batch_id: int | None) -> None:
        """Refuse: nothing is written."""
        raise AssertionError("columns are for tables, and not written")


@dataclass(frozen=True)
class _Encoder:
    encode: RowEncoder
    is_row: bool

    def __call__(self, value: Any, timestamp: int | None) -> tuple[Any, ...]:
        columns = self.encode(value if self.is_row else (value,), timestamp)
        kind = value.get_row_kind().value if isinstance(value, Row) else 0
        return (*columns, timestamp, kind)


class ColumnsSource(Source):
    """Rows of Spark as rows of a stream.

    Parameters
    ----------
    frame : DataFrame
        The columns of the rows, then TIME_COLUMN and KIND_COLUMN.
    row_type : RowType
        Of the rows.
    """

    def __init__(self, frame: DataFrame, row_type: RowType) -> None:
        self._frame = frame
        self._row_type = row_type
        self.reads = ", ".join(frame.columns)

    def continues(self, reads: str) -> bool:
        """Return that the columns may be others; what they are read from is not known here."""
        return True

    def produced_type(self) -> TypeInformation:
        """Return the type of the rows."""
        return row_type_info(self._row_type)

    def boundedness(self) -> Boundedness:
        """Return whether the rows end."""
        unbounded = Boundedness.CONTINUOUS_UNBOUNDED
        return unbounded if self._frame.isStreaming else Boundedness.BOUNDED

    def read(self, context: Context, is_streaming: bool) -> SourceRows:
        """Return the rows."""
        from pyflow.session.streams import as_stream

        frame = self._frame
        if is_streaming and not frame.isStreaming:
            frame = as_stream(frame, context)
        decode = RowDecoder(shape_in_session(self._row_type, context))
        return SourceRows(frame, _Decoder(decode), self.produced_type())


@dataclass(frozen=True)
class _Decoder:
    decode: RowDecoder

    def __call__(self, *columns: Any) -> Iterable[tuple[Any, int | None]]:
        *values, timestamp, kind = columns
        for row, _ in self.decode(*values):
            row.set_row_kind(_KINDS[kind])
            yield row, timestamp
