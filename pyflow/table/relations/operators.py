"""Operators that keep state, as steps of a plan.

They run in Spark's operator for arbitrary state in append mode: what they emit are changes, or rows
that only come, rows like others to Spark, so that they may follow each other. State lies in
RocksDB, the only store that Spark has for it. Bounded rows are one batch for them, whose state is
dropped with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pyspark.sql import functions as F
from pyspark.sql import types as spark

from pyflow.session.builder import INSTALL_TABLE, import_state_messages
from pyflow.session.options import value_of
from pyflow.session.package import provide
from pyflow.streaming.plan.clocks import CLOSES_WINDOWS, clocks_of
from pyflow.streaming.plan.operator_metadata import with_metadata
from pyflow.streaming.plan.state_store import keep_state_in_rocksdb
from pyflow.streaming.runtime.state_ttl import FOREVER, Lifetime
from pyflow.table.changes.relation import KIND, SEQUENCE, column, with_watermark
from pyflow.table.columns.time_values import local_of_micros
from pyflow.table.relations.encoding import decoded, encoded, encoded_type
from pyflow.types.logical_types import BooleanType, DataType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.streaming.runtime.processor import StreamOperator
    from pyflow.table.context import TableContext

__all__ = [
    "Columns",
    "KeyColumns",
    "NotIncremental",
    "TimeMode",
    "applied",
    "changes_of",
    "closed_by_clock",
    "lifetime_of",
    "may_have_timers",
    "per_record",
    "time_to_live",
    "timely",
]

_WATCHED = "watched"


TimeMode = Literal["None", "EventTime", "ProcessingTime"]


class NotIncremental(TableException):
    """An operation that no operator keeps up with its input; bounded rows allow it at their end."""


@dataclass(frozen=True)
class Columns:
    """Columns of an operator's rows, encoded and under names of their own.

    Parameters
    ----------
    prefix
        What their names begin with; numbers follow.
    types
        Their types.
    """

    prefix: str
    types: tuple[DataType, ...]

    @property
    def names(self) -> list[str]:
        """Return the names of the encoded columns."""
        return [f"{self.prefix}{place}" for place in range(len(self.types))]

    def encoded(self, columns: Sequence[Column]) -> list[Column]:
        """Return columns as the operator has them."""
        found = zip(columns, self.types, self.names)
        return [encoded(each, data_type).alias(name) for each, data_type, name in found]

    def decoded(self, names: Sequence[str]) -> list[Column]:
        """Return the columns as they were, under other names."""
        found = zip(self.names, self.types, names)
        return [decoded(column(own), data_type).alias(name) for own, data_type, name in found]

    @property
    def schema(self) -> list[spark.StructField]:
        """Return the fields of the encoded columns."""
        return [
            spark.StructField(name, encoded_type(data_type))
            for name, data_type in zip(self.names, self.types)
        ]


class KeyColumns(Columns):
    """The columns of a key. Without any, all rows have the same key, which is true."""

    @classmethod
    def of(cls, types: Iterable[DataType]) -> KeyColumns:
        """Return the columns of a key with parts of these types."""
        return cls("k", tuple(types) or (BooleanType(),))

    def encoded(self, columns: Sequence[Column]) -> list[Column]:
        """Return the parts of the key as the operator has them."""
        return super().encoded(columns or [F.lit(True)])


def changes_of(
    frame: DataFrame,
    keys: Sequence[str],
    processor: StreamOperator,
    emitted: Sequence[spark.StructField],
    context: TableContext,
) -> DataFrame:
    """Return the changes that an operator emits.

    Parameters
    ----------
    frame
        The columns of the keys first, and KIND and SEQUENCE last.
    keys
        By which columns rows belong together.
    processor
        What `transformWithState` takes. Its only timers are those for state that is not used.
    emitted
        The columns that it emits, before KIND and SEQUENCE.
    """
    kind = spark.StructField(KIND, spark.ByteType())
    output = [*emitted, kind, spark.StructField(SEQUENCE, spark.LongType())]
    time_mode: TimeMode = "ProcessingTime" if processor.lifetime.sweeps else "None"
    return applied(frame, keys, processor, output, time_mode, context)


def applied(
    frame: DataFrame,
    keys: Sequence[str],
    processor: Any,
    emitted: Sequence[spark.StructField],
    time_mode: TimeMode,
    context: TableContext,
    taken: Mapping[str, Any] | None = None,
) -> DataFrame:
    """Return the rows that an operator emits.

    Parameters
    ----------
    frame
        The columns of the keys first, and SEQUENCE last. In event time one of the others has the
        watermark, and rows that are later do not reach the operator.
    keys
        By which columns rows belong together.
    processor
        What `transformWithState` takes.
    emitted
        All columns that it emits.
    time_mode
        Which timers it has.
    taken
        Metadata of SEQUENCE.

    Raises
    ------
    TableException
        If PySpark lacks what operators with state need.
    """
    try:
        import_state_messages()
    except ImportError as error:
        raise TableException(f"operators with state: {error}; {INSTALL_TABLE}") from error
    provide(context.session)
    keep_state_in_rocksdb(context.session)
    name = type(processor).__name__
    frame, output = with_metadata(frame, SEQUENCE, emitted, name, processor, taken)
    grouped: Any = frame.groupBy(*map(column, keys))
    rows: DataFrame = grouped.transformWithState(processor, output, "Append", time_mode)
    return rows


def closed_by_clock(
    frame: DataFrame,
    keys: Sequence[str],
    processor: StreamOperator,
    emitted: Sequence[spark.StructField],
    context: TableContext,
) -> DataFrame:
    """Return the rows that an operator emits when its windows have ended by a clock.

    Parameters
    ----------
    frame
        The columns of the keys first, and SEQUENCE last.
    keys, processor, emitted
        As :func:`applied` takes them.

    Raises
    ------
    TableException
        If windows of these rows cannot end by a clock.
    """
    if not may_have_timers(frame, context):
        raise TableException(
            "windows by processing time are not supported behind windows or joins by event time, "
            "nor over Spark Connect: Spark has no timers of both in a row. Use an event time."
        )
    processor.timer_reports = context.timer_reports
    marked = {CLOSES_WINDOWS: True}
    return applied(frame, keys, processor, emitted, "ProcessingTime", context, marked)


def timely(frame: DataFrame, moment: str, later: int = 0) -> DataFrame:
    """Return the rows of a frame, as Spark leaves out those of them that are late.

    Parameters
    ----------
    frame
        SEQUENCE is its last column, and stays that.
    moment
        The column with the microseconds that are compared with the watermark.
    later
        Microseconds that are added to it.
    """
    *others, last = (column(name) for name in frame.columns)
    watched = with_watermark(local_of_micros(column(moment) + later), _WATCHED)
    return frame.select(*others, watched, last)


def per_record(context: TableContext) -> bool:
    """Return whether each row emits its change, rather than all of a micro-batch together."""
    configuration = context.config.get_configuration()
    return not value_of(configuration, "table.exec.mini-batch.enabled")


def lifetime_of(frame: DataFrame, context: TableContext) -> Lifetime:
    """Return how long the state of an operator over these rows is kept that is not used."""
    if not frame.isStreaming:
        return FOREVER
    seconds = time_to_live(context)
    return Lifetime(seconds, seconds > 0 and may_have_timers(frame, context))


def may_have_timers(frame: DataFrame, context: TableContext) -> bool:
    """Return whether an operator over these rows may have timers of a processing time.

    With these Spark tells the operators behind nothing of the watermark, and runs batches for ever.
    So it must not be where operators of event time are before this one: their windows end with
    batches that have no rows.
    """
    if not hasattr(context.session, "_jsparkSession"):
        return False
    return not clocks_of(frame).has_event_time


def time_to_live(context: TableContext) -> float:
    """Return after how many seconds state is forgotten; 0 for never."""
    return context.config.get_idle_state_retention().total_seconds()
