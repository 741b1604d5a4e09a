"""Data streams of tables: how rows and their changes become elements."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.common.time import Duration
from pyflow.common.types import RowKind
from pyflow.common.watermark_strategy import WatermarkStrategy
from pyflow.datastream.graph.columns import KIND_COLUMN, TIME_COLUMN, ColumnsSource
from pyflow.table.changes.changelog import in_order
from pyflow.table.changes.relation import (
    INSERT,
    KIND,
    UPDATE_BEFORE,
    Relation,
    TimeAttribute,
    check_unique,
    column,
)
from pyflow.table.relations.data_streams import check_key, metadata_of, physical_of
from pyflow.table.relations.tables import converted
from pyflow.table.relations.windows import as_instant
from pyflow.table.schema import Schema
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType, LocalZonedTimestampType, RowField, RowType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.common.typeinfo import TypeInformation
    from pyflow.table.changelog_mode import ChangelogMode

# As Flink calls what a table is converted into.
_NAME = "Unregistered_DataStream_Sink_1"
# The event time of rows whose columns are converted.
_ROWTIME = "$rowtime"
_INSTANT = DataTypes.TIMESTAMP_LTZ(3)

_logger = logging.getLogger(__name__)


def source_of(relation: Relation) -> tuple[ColumnsSource, WatermarkStrategy]:
    """Return the source that the rows of a table are, and its watermarks.

    Raises
    ------
    TableException
        If the rows may change.
    """
    if relation.updating:
        raise _refused("Use to_changelog_stream().")
    return source_of_changes(relation)


def source_of_changes(relation: Relation) -> tuple[ColumnsSource, WatermarkStrategy]:
    """Return the source that the changes of a table are, and its watermarks."""
    return _source(relation, relation.fields, _event_time(relation))


def source_of_types(
    relation: Relation, type_info: TypeInformation, may_change: bool
) -> tuple[ColumnsSource, WatermarkStrategy]:
    """Return the source that the rows of a table are, with columns of the types of elements.

    Raises
    ------
    TableException
        If the columns do not fit the types, or rows are changes that may not be.
    """
    if relation.updating and not may_change:
        raise _refused("Use to_retract_stream().")
    wanted = type_info.data_type()
    types = wanted.field_types() if isinstance(wanted, RowType) else [wanted]
    schema = Schema.new_builder()
    for place, data_type in enumerate(types):
        schema.column(f"f{place}", data_type.nullable())
    return source_with_schema(relation, schema.build(), None)


def source_with_schema(
    relation: Relation, schema: Schema, mode: ChangelogMode | None
) -> tuple[ColumnsSource, WatermarkStrategy]:
    """Return the source that the changes of a table are, with the columns of a schema.

    Parameters
    ----------
    relation
        The table's.
    schema
        Its columns are those of the table, by position, converted. One of the metadata ``rowtime``
        is the event time of the elements. The primary key is that of upserts.
    mode
        Which changes the stream has; all if None.

    Raises
    ------
    TableException
        If the columns do not fit, or the stream does not have the changes of the table.
    """
    kinds = frozenset(RowKind) if mode is None else mode.kinds
    if relation.updating and not {RowKind.UPDATE_AFTER, RowKind.DELETE} <= kinds:
        raise _refused("Use ChangelogMode.all(), or ChangelogMode.upsert().")
    target, time = _target(relation, schema)
    rows, fields = relation, target
    instant = _event_time(relation)
    if time is None and instant is not None:
        time = _ROWTIME
        fields = [*target, (time, _INSTANT)]
        frame = relation.frame.withColumn(time, instant)
        rows = replace(relation, frame=frame, fields=(*relation.fields, (time, _INSTANT)))
    made = converted(rows, _NAME, tuple(fields))
    made = replace(made, time_attributes=relation.time_attributes)
    if RowKind.UPDATE_AFTER in kinds and RowKind.UPDATE_BEFORE not in kinds:
        _check_key(relation, [name for name, _ in target], schema)
        if relation.updating:
            made = replace(made, frame=made.frame.filter(column(KIND) != UPDATE_BEFORE))
    elements = [each for each in target if each[0] != time]
    return _source(made, elements, None if time is None else _not_null(time))


def _not_null(time: str) -> Column:
    message = f"A row of table sink '{_NAME}' has no event time: column '{time}' is null."
    value = column(time)
    return F.when(value.isNull(), F.raise_error(F.lit(message))).otherwise(value)


def _refused(instead: str) -> TableException:
    return TableException(
        f"Table sink '{_NAME}' doesn't support consuming update and delete changes, which the "
        f"query produces. {instead}"
    )


def _target(relation: Relation, schema: Schema) -> tuple[list[tuple[str, DataType]], str | None]:
    """Return the columns that a schema takes from a table, and the one of their event time."""
    check_unique([each.name for each in schema.columns])
    times = [each for each in metadata_of(schema) if not each.is_virtual]
    for each in times:
        check_key(each)
    if len(times) > 1:
        raise TableException(f"The metadata 'rowtime' is declared more than once: {_NAME}.")
    time = times[0].name if times else None
    physical = {each.name: each.data_type for each in physical_of(schema)}
    if physical:
        named = [each.name for each in schema.columns if each.name in physical or each in times]
        return [(name, physical.get(name, _INSTANT)) for name in named], time
    own = dict(relation.fields)
    if time is not None:
        own[time] = _INSTANT
    return list(own.items()), time


def _check_key(relation: Relation, target: Sequence[str], schema: Schema) -> None:
    """Raise if changes of several rows may meet under the primary key of upserts."""
    if schema.key is None:
        return
    primary = schema.key.columns
    names = dict(zip(relation.names, target))
    key = None if relation.key is None else [names[name] for name in relation.key]
    if key is None or not {*key} <= {*primary}:
        raise TableException(
            f"The query has an upsert key that differs from the primary key of the sink table "
            f"'{_NAME}'. Primary key: [{', '.join(primary)}], upsert key: "
            f"{'none' if key is None else '[' + ', '.join(key) + ']'}. Use ChangelogMode.all()."
        )


def _event_time(relation: Relation) -> Column | None:
    """Return the time attribute of a table as an instant; that of a TIMESTAMP is one of UTC."""
    names = [name for name, time in relation.time_attributes.items() if time.kind == "rowtime"]
    if len(names) > 1:
        raise TableException(
            f"The query contains more than one rowtime attribute column [{', '.join(names)}] for "
            f"writing into table '{_NAME}'. Please select the column that should be used as the "
            "event-time timestamp for the table sink by casting all other columns to regular "
            "TIMESTAMP or TIMESTAMP_LTZ."
        )
    if not names:
        return None
    zoned = isinstance(dict(relation.fields)[names[0]], LocalZonedTimestampType)
    return column(names[0]) if zoned else as_instant(names[0])


def _source(
    relation: Relation, fields: Sequence[tuple[str, DataType]], instant: Column | None
) -> tuple[ColumnsSource, WatermarkStrategy]:
    """Return the source of these columns of a table, whose elements have an event time."""
    strategy = WatermarkStrategy.no_watermarks()
    frame = relation.frame if relation.unbounded else in_order(relation)
    times = [time for time in relation.time_attributes.values() if time.kind == "rowtime"]
    if times and relation.unbounded:
        frame, strategy = _watched_by_stream(frame, times[0])
    kind = column(KIND) if relation.updating else F.lit(INSERT)
    moment = F.lit(None) if instant is None else F.unix_millis(instant)
    frame = frame.select(
        *(column(name) for name, _ in fields),
        moment.cast("bigint").alias(TIME_COLUMN),
        kind.cast("tinyint").alias(KIND_COLUMN),
    )
    return ColumnsSource(frame, RowType([RowField(*each) for each in fields])), strategy


def _watched_by_stream(
    frame: DataFrame, time: TimeAttribute
) -> tuple[DataFrame, WatermarkStrategy]:
    """Return unbounded rows without Spark's watermark, and the strategy that gives them theirs.

    Spark has one watermark for rows. Where a table keeps state by it, the stream has none.
    """
    session: Any = frame.sparkSession
    jvm: Any = session._jvm
    without = jvm.org.apache.spark.sql.pyflow.EventTimes.without(frame._jdf)
    if without is None or time.delay_ms is None:
        reason = "keeps state by its watermark" if without is None else "has that of a generator"
        _logger.warning(
            "The table %s, which its data stream does not have: windows and timers of the event "
            "time do not fire behind to_data_stream(). Convert the table before its windows and "
            "joins, or keep to SQL.",
            reason,
        )
        kept = frame if without is None else type(frame)(without, session)
        return kept, WatermarkStrategy.no_watermarks()
    # The strategy is a millisecond behind, the watermark of a table is not.
    behind = Duration.of_millis(max(time.delay_ms - 1, 0))
    made = type(frame)(without, session)
    return made, WatermarkStrategy.for_bounded_out_of_orderness(behind)
