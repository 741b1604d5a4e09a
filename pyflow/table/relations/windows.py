"""Windows: which rows belong to which window.

Times are computed as Flink computes them: a TIMESTAMP_LTZ as the wall clock of the table's time
zone shows it, a BIGINT as milliseconds since 1970. Windows start at multiples of their slide since
1970-01-01 00:00.

Over unbounded tables Spark closes a window when the watermark passes its end. It finds the end by
the watermark in the column's metadata, and compares instants: the bounds of windows of a
TIMESTAMP_LTZ then are instants, too, until the window is closed.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from pyflow.table.changes.changelog import numbered
from pyflow.table.changes.relation import (
    SEQUENCE,
    Relation,
    TimeAttribute,
    column,
    quoted,
    with_watermark,
)
from pyflow.table.columns.nodes import Field, RowInterval, WindowProperty
from pyflow.table.columns.time_values import micros_of_local
from pyflow.table.functions.resolution import interval_ms
from pyflow.table.relations.projection import node_of, scope_of
from pyflow.table.window import GroupWindow
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import BigIntType, DataType, LocalZonedTimestampType, TimestampType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.table.context import TableContext

_START = "$start"
_END = "$end"
_TIME = "$time"
_WINDOW = "$window"
_ONE = "$one"
_EPOCH = "timestamp_ntz'1970-01-01 00:00:00'"


@dataclass(frozen=True)
class Assigned:
    """Rows and the window of each; a row in several windows is there several times.

    Parameters
    ----------
    relation
        The rows, with the columns of ``keys`` that tell the window apart.
    start, end
        The columns with its bounds; None for row-count windows.
    time
        The type of the time attribute.
    by_clock
        Whether it is a processing time. Bounded rows all have that of their query.
    gap
        Of sessions by the processing time, in milliseconds: grouping finds them, and adds the
        columns of ``keys``.
    rows
        The size and the slide of row-count windows of an unbounded table: grouping counts the rows.
    """

    relation: Relation
    keys: tuple[str, ...]
    start: Column | None
    end: Column | None
    time: DataType
    by_clock: bool = False
    gap: int | None = None
    rows: tuple[int, int] | None = None

    def property_of(self, node: WindowProperty) -> tuple[Column, DataType, TimeAttribute | None]:
        """Return the value of a window's property, its type, and whether it is a time attribute."""
        if self.start is None or self.end is None:
            raise TableException(
                "Window start and Window end cannot be selected for a row-count window."
            )
        wall_clock = DataTypes.TIMESTAMP(3)
        if node.kind == "start":
            return self.start.cast("timestamp_ntz"), wall_clock, None
        if node.kind == "end":
            return self.end.cast("timestamp_ntz"), wall_clock, None
        if node.kind == "rowtime" and not self.by_clock:
            last = last_moment(self.end)
            if isinstance(self.time, LocalZonedTimestampType):
                zoned = DataTypes.TIMESTAMP_LTZ(3)
                return last.cast("timestamp_ltz"), zoned, TimeAttribute("rowtime")
            return last, wall_clock, TimeAttribute("rowtime")
        if node.kind == "proctime" and self.by_clock:
            zoned = DataTypes.TIMESTAMP_LTZ(3)
            return F.current_timestamp(), zoned.not_null(), TimeAttribute("proctime")
        raise TableException(
            f"a window has the property {node.kind} by the other kind of time only. Select .start, "
            + (".end or .proctime." if self.by_clock else ".end or .rowtime.")
        )


def assigned(
    relation: Relation, keys: Sequence[str], window: GroupWindow, context: TableContext
) -> Assigned:
    """Return the rows with their windows.

    Parameters
    ----------
    keys
        Columns by which rows are grouped beside the window: each key has its own sessions and
        row-count windows.
    """
    name = _time_field(relation, window, context)
    data_type = dict(relation.fields)[name]
    by_clock = is_processing_time(relation, name)
    size = node_of(window.size, context)
    if window.slide is not None and isinstance(size, RowInterval) != isinstance(
        node_of(window.slide, context), RowInterval
    ):
        raise TableException("A sliding window expects the same type of size and slide.")
    if isinstance(size, RowInterval):
        return _by_rows(relation, keys, name, size.rows, _slide_by_rows(window, size, context))
    if window.kind == "session":
        gap = interval_ms(size)
        if by_clock and relation.unbounded:
            _text(gap)
            bounds = (column(_START), column(_END))
            return Assigned(relation, (_START, _END), *bounds, data_type, True, gap)
        if relation.unbounded:
            return _merged_sessions(relation, keys, name, gap)
        frame = relation.frame.withColumn(_TIME, wall_clock_of(name, data_type))
        frame = sessions(frame.filter(column(_TIME).isNotNull()), keys, gap)
    else:
        slide = interval_ms(size if window.slide is None else node_of(window.slide, context))
        frame, start, end = fixed_windows(
            relation, name, interval_ms(size), slide, 0, context.time_zone()
        )
        frame = frame.withColumns({_START: start, _END: end})
        if by_clock and relation.unbounded:
            instants = tuple((part, DataTypes.TIMESTAMP_LTZ(3)) for part in (_START, _END))
            rows = replace(relation, frame=frame, fields=(*relation.fields, *instants))
            return Assigned(rows, (_START, _END), column(_START), column(_END), data_type, True)
    rows = replace(
        relation,
        frame=frame,
        fields=(
            *relation.fields,
            (_START, DataTypes.TIMESTAMP(3)),
            (_END, DataTypes.TIMESTAMP(3)),
        ),
    )
    return Assigned(rows, (_START, _END), column(_START), column(_END), data_type, by_clock)


def is_processing_time(relation: Relation, name: str) -> bool:
    """Return whether a column is the processing time of a table."""
    attribute = relation.time_attributes.get(name)
    return attribute is not None and attribute.kind == "proctime"


def is_by_clock(relation: Relation, name: str) -> bool:
    """Return whether windows by a column end when a clock says so, not with the input."""
    return relation.unbounded and is_processing_time(relation, name)


def last_moment(end: Column) -> Column:
    """Return the last time in a window, to the millisecond: its time as that of a row."""
    return end - F.expr("INTERVAL '0.001' SECOND")


def fixed_windows(
    relation: Relation, name: str, size: int, slide: int, offset: int, zone: datetime.tzinfo
) -> tuple[DataFrame, Column, Column]:
    """Return the rows with their windows of a size, and the bounds of these.

    Parameters
    ----------
    name
        The time attribute; rows where it is null are in no window.
    size, slide, offset
        In milliseconds.
    zone
        The zone whose wall clock the windows follow.

    Returns
    -------
    tuple
        A frame with a row for each row and window, and columns of it. Over unbounded tables the
        second one has the watermark, and both are instants for a TIMESTAMP_LTZ.
    """
    data_type = dict(relation.fields)[name]
    time = wall_clock_of(name, data_type)
    if relation.unbounded:
        time = column(name)
        if isinstance(data_type, LocalZonedTimestampType):
            offset -= _zone_offset(zone, slide)
    frame = relation.frame.filter(column(name).isNotNull()).withColumn(_TIME, time)
    width = _text(max(size, slide))
    bounds = F.window(column(_TIME), width, _text(slide), f"{offset % slide} milliseconds")
    frame = frame.withColumn(_WINDOW, bounds)
    end = column(_WINDOW).getField("end")
    if slide > size:
        # Rows between the end of a window and the next one are in none.
        end = end - F.make_dt_interval(secs=F.lit(Decimal(slide - size).scaleb(-3)))
        frame = frame.filter(column(_TIME) < end)
    if relation.unbounded and not is_by_clock(relation, name):
        end = with_watermark(end, _END)
    return frame, column(_WINDOW).getField("start"), end


def _zone_offset(zone: datetime.tzinfo, slide: int) -> int:
    """Return how far the wall clock is before UTC, as far as windows that slide so can tell.

    Raises
    ------
    TableException
        If that changes in the course of time: windows of a day have 23 hours in spring.
    """
    days = (datetime.datetime(1970, 1, 1) + datetime.timedelta(days=n) for n in range(0, 36525, 5))
    offsets = {
        (zone.utcoffset(day) or datetime.timedelta()) // datetime.timedelta(milliseconds=1) % slide
        for day in days
    }
    if len(offsets) > 1:
        raise TableException(
            f"Windows of {slide} ms by a TIMESTAMP_LTZ, over unbounded tables, need a time zone "
            f"whose clock is not changed by parts of that: {zone} is none. Set "
            "'table.local-time-zone' to another zone, or use a TIMESTAMP."
        )
    return offsets.pop()


def refuse_changing_clock(zone: datetime.tzinfo) -> None:
    """Raise for a zone in which two instants may show the same wall clock."""
    _zone_offset(zone, 24 * 60 * 60 * 1000)


def _merged_sessions(relation: Relation, keys: Sequence[str], name: str, gap: int) -> Assigned:
    """Return rows of a stream with sessions of their own, which grouping merges."""
    data_type = dict(relation.fields)[name]
    frame = relation.frame.filter(column(name).isNotNull())
    frame = frame.withColumn(_WINDOW, F.session_window(column(name), _text(gap)))
    bounds = [DataTypes.FIELD(part, data_type) for part in ("start", "end")]
    fields = (*relation.fields, (_WINDOW, DataTypes.ROW(bounds)))
    own: tuple[str, ...] = (_WINDOW,)
    if not keys:
        # Spark merges sessions of a key only, and takes no constant for one.
        frame = frame.withColumn(_ONE, F.pmod(F.xxhash64(column(name)), F.lit(1)))
        fields, own = (*fields, (_ONE, DataTypes.BIGINT())), (_ONE, _WINDOW)
    rows = replace(relation, frame=frame, fields=fields)
    start, end = (column(_WINDOW).getField(part) for part in ("start", "end"))
    return Assigned(rows, own, start, end, data_type)


def _text(milliseconds: int) -> str:
    if milliseconds <= 0:
        raise TableException(f"Window interval must be positive, but was {milliseconds} ms.")
    return f"{milliseconds} milliseconds"


def _time_field(relation: Relation, window: GroupWindow, context: TableContext) -> str:
    node = node_of(window.time, context)
    if not isinstance(node, Field):
        raise TableException("A group window expects a time attribute for grouping.")
    scope_of(relation, context).resolve(node)
    attribute = relation.time_attributes.get(node.name)
    if isinstance(node_of(window.size, context), RowInterval):
        if relation.unbounded and not is_by_clock(relation, node.name):
            raise TableException(
                "Event-time grouping windows on row intervals in a stream environment are "
                f"currently not supported. Use a processing time for the window {window.name!r}."
            )
        return node.name
    if context.is_streaming and attribute is None:
        raise TableException(
            "A group window expects a time attribute for grouping in a stream environment. "
            f"{node.name!r} is none: declare a watermark for it in the schema of its table."
        )
    data_type = dict(relation.fields)[node.name]
    if not isinstance(data_type, (TimestampType, LocalZonedTimestampType, BigIntType)):
        raise TableException(
            "A group window expects a time attribute for grouping in a batch environment: "
            f"{node.name!r} is of type {data_type.sql}."
        )
    return node.name


def wall_clock_of(name: str, data_type: DataType) -> Column:
    """Return the time of a column as the wall clock shows it."""
    if isinstance(data_type, BigIntType):
        return F.expr(f"timestampadd(MILLISECOND, {quoted(name)}, {_EPOCH})")
    return column(name).cast("timestamp_ntz")


def sessions(frame: DataFrame, keys: Sequence[str], gap: int) -> DataFrame:
    """Number the sessions of each key and take their bounds.

    Spark's session_window cannot stand beside Python aggregates; these are plain window functions.
    """
    _text(gap)
    by_time = Window.partitionBy(*map(column, keys)).orderBy(column(_TIME))
    until = F.expr(f"timestampadd(MILLISECOND, {gap}, {quoted(_TIME)})")
    frame = frame.withColumn(_END, F.lag(until).over(by_time))
    begins = F.when(column(_TIME) <= column(_END), 0).otherwise(1)
    frame = frame.withColumn(_START, begins)
    frame = frame.withColumn(_START, F.sum(column(_START)).over(by_time))
    session = Window.partitionBy(*map(column, [*keys, _START]))
    frame = frame.withColumn(_END, F.max(until).over(session))
    return frame.withColumn(_START, F.min(column(_TIME)).over(session))


def _slide_by_rows(window: GroupWindow, size: RowInterval, context: TableContext) -> int:
    """Return the slide of row-count windows: how many rows after one window the next begins."""
    slide = size if window.slide is None else node_of(window.slide, context)
    assert isinstance(slide, RowInterval)
    for each in (size, slide):
        if each.rows <= 0:
            raise TableException(f"Window interval must be positive, but was {each.rows} rows.")
    return slide.rows


def _by_rows(relation: Relation, keys: Sequence[str], name: str, size: int, slide: int) -> Assigned:
    """Assign the rows of a key to row-count windows; a window that is not full has no result."""
    data_type = dict(relation.fields)[name]
    if relation.unbounded:
        return Assigned(relation, (), None, None, data_type, True, rows=(size, slide))
    rows = numbered(relation)
    by_time = Window.partitionBy(*map(column, keys)).orderBy(column(name), column(SEQUENCE))
    place = F.row_number().over(by_time) - 1
    frame = rows.frame.withColumn(_END, place)
    # The windows of a row, counted from 0; a row has none if the slide exceeds the size.
    last = F.floor(column(_END) / slide)
    first = F.greatest(F.floor((column(_END) - size) / slide) + 1, F.lit(0))
    windows = F.when(first <= last, F.sequence(first, last))
    frame = frame.withColumn(_START, F.explode(windows))
    full = Window.partitionBy(*map(column, [*keys, _START]))
    frame = frame.withColumn(_END, F.count(F.lit(1)).over(full))
    frame = frame.filter(column(_END) == size).select(*rows.columns, column(_START))
    counted = replace(
        relation, frame=frame, fields=(*relation.fields, (_START, DataTypes.BIGINT()))
    )
    return Assigned(counted, (_START,), None, None, data_type)


def micros_of(name: str, data_type: DataType) -> Column:
    """Return the time of a column as microseconds since 1970."""
    if isinstance(data_type, BigIntType):
        return column(name) * 1000
    if isinstance(data_type, LocalZonedTimestampType):
        return F.unix_micros(column(name))
    return micros_of_local(column(name).cast("timestamp_ntz"))


def as_instant(name: str) -> Column:
    """Return the wall clock of a TIMESTAMP as the instant that it is in UTC."""
    return F.timestamp_micros(micros_of(name, DataTypes.TIMESTAMP(3)))


def as_wall_clock(name: str) -> Column:
    """Return the TIMESTAMP that :func:`as_instant` was made of."""
    return F.expr(f"timestampadd(MICROSECOND, unix_micros({quoted(name)}), {_EPOCH})")
