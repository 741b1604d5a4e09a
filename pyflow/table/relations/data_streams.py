"""Tables of data streams: how the fields of a stream's objects become columns."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.common.time import Duration
from pyflow.common.typeinfo import PickledBytesTypeInfo, RowTypeInfo
from pyflow.common.types import RowKind
from pyflow.common.watermark_strategy import WatermarkStrategy
from pyflow.datastream.data_stream import DataStream
from pyflow.datastream.graph.columns import (
    KIND_COLUMN,
    TIME_COLUMN,
    ColumnsSink,
    ColumnsSource,
)
from pyflow.table.changes.changelog import changes_of_values, in_order, places
from pyflow.table.changes.relation import (
    DELETE,
    INSERT,
    KIND,
    SEQUENCE,
    UPDATE_BEFORE,
    Relation,
    TimeAttribute,
    column,
)
from pyflow.table.columns.conversion import convert
from pyflow.table.columns.nodes import Alias, Field, Node, WindowProperty
from pyflow.table.relations import sources
from pyflow.table.relations.projection import nodes_of, project
from pyflow.table.relations.streams import upserts as streams
from pyflow.table.relations.tables import fits, shaped
from pyflow.table.schema import Schema, UnresolvedMetadataColumn, UnresolvedPhysicalColumn
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType, RowField, RowType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.table.changelog_mode import ChangelogMode
    from pyflow.table.context import TableContext

_NAME = "of a data stream"

_AS_FIELD = (
    "Make it a field of the elements, and declare it with a schema: the column, and a watermark."
)

_logger = logging.getLogger(__name__)


def relation_of_stream(
    stream: DataStream, fields_or_schema: Sequence[Any], context: TableContext
) -> Relation:
    """Return the relation of a data stream.

    Parameters
    ----------
    stream
        The stream; its type says the columns: the fields of rows and tuples, ``f0`` otherwise.
    fields_or_schema
        Nothing, a schema, or expressions that name the columns.
    context
        Where the table belongs.
    """
    if not isinstance(stream, DataStream):
        raise TypeError(f"expected a DataStream, got {type(stream).__name__}")
    relation = _relation(stream, context)
    if not fields_or_schema:
        return relation
    if isinstance(fields_or_schema[0], Schema):
        if len(fields_or_schema) > 1:
            raise ValueError("a data stream becomes a table by one schema, or by expressions")
        return _with_schema(relation, fields_or_schema[0], context)
    return _with_fields(relation, nodes_of(fields_or_schema, context), context)


def _relation(stream: DataStream, context: TableContext) -> Relation:
    info = stream.get_type()
    if isinstance(info, PickledBytesTypeInfo):
        raise TableException(
            "The data stream has no type, so that its table would have no columns. Give "
            "from_collection() its type_info, such as Types.ROW([Types.INT(), Types.STRING()])."
        )
    data_type = info.data_type()
    elements = stream._collection()
    if elements is not None:
        return sources.of_elements(elements, data_type, False, context).renamed(_names(data_type))
    return _of_rows(stream, data_type, context)


def _names(data_type: Any) -> list[str]:
    return data_type.field_names() if isinstance(data_type, RowType) else ["f0"]


def _of_rows(stream: DataStream, data_type: DataType, context: TableContext) -> Relation:
    """Return the relation of what a program computes."""
    is_row = isinstance(data_type, RowType)
    row_type = data_type if isinstance(data_type, RowType) else _row_of(data_type)
    frame = stream._columns(ColumnsSink(row_type, is_row, context), context)
    fields = tuple((each.name, each.data_type) for each in row_type.fields)
    return Relation(frame, fields)


def _row_of(data_type: DataType) -> RowType:
    return RowType([RowField("f0", data_type)])


def relation_of_changes(
    stream: DataStream, schema: Schema | None, mode: ChangelogMode | None, context: TableContext
) -> Relation:
    """Return the relation of a stream of rows that are changes, by their RowKind.

    Parameters
    ----------
    stream
        Its elements are rows.
    schema
        Which may convert columns, leave some out and add others.
    mode
        Whether rows before updates come, too; they do by default.
    context
        Where the table belongs.
    """
    info = stream.get_type()
    if not isinstance(info, RowTypeInfo):
        raise TableException(
            f"A changelog stream has elements of a row type, Types.ROW(...), not of {info}."
        )
    rows = _of_rows(stream, info.data_type(), context)
    kind = column(KIND_COLUMN).cast("tinyint").alias(KIND)
    frame = rows.frame.select(*rows.columns, kind, places(rows.frame).alias(SEQUENCE))
    changes = replace(rows, frame=frame, updating=True)
    kinds = set() if mode is None else mode.kinds
    if RowKind.UPDATE_AFTER in kinds and RowKind.UPDATE_BEFORE not in kinds:
        changes = _changes_of_upserts(changes, schema, context)
    return changes if schema is None else _with_schema(changes, schema, context)


def _changes_of_upserts(
    upserts: Relation, schema: Schema | None, context: TableContext
) -> Relation:
    """Return all changes of a stream of which the newest row of each key comes."""
    key = () if schema is None or schema.key is None else schema.key.columns
    if not key or not {*key} <= {*upserts.names}:
        raise TableException(
            "A changelog stream without rows before updates needs a schema whose primary key is "
            f"fields of its rows, which are: {', '.join(upserts.names)}."
        )
    keys = [each for each in upserts.fields if each[0] in key]
    values = [each for each in upserts.fields if each[0] not in key]
    deleted = column(KIND).isin(UPDATE_BEFORE, DELETE)
    if upserts.unbounded:
        frame = streams.changes_of_upserts(upserts.frame, keys, values, deleted, context)
    else:
        frame = changes_of_values(upserts.frame, key, values, deleted)
    return replace(upserts, frame=frame, key=tuple(key))


def source_of(relation: Relation, may_change: bool) -> tuple[ColumnsSource, WatermarkStrategy]:
    """Return the source that the rows of a table are, and its watermarks.

    Parameters
    ----------
    relation
        The table's.
    may_change
        Whether rows may be changes.

    Raises
    ------
    TableException
        If they are, and may not be.
    """
    if relation.updating and not may_change:
        raise TableException(
            "Table sink 'Unregistered_DataStream_Sink_1' doesn't support consuming update and "
            "delete changes. Use to_changelog_stream()."
        )
    times = {n: time for n, time in relation.time_attributes.items() if time.kind == "rowtime"}
    moment = F.lit(None).cast("bigint")
    strategy = WatermarkStrategy.no_watermarks()
    frame = in_order(relation) if not relation.unbounded else relation.frame
    if times:
        name, time = next(iter(times.items()))
        moment = F.unix_millis(column(name).cast("timestamp"))
        if relation.unbounded:
            frame, strategy = _watched_by_stream(frame, time)
    kind = column(KIND) if relation.updating else F.lit(INSERT)
    frame = frame.select(
        *relation.columns, moment.alias(TIME_COLUMN), kind.cast("tinyint").alias(KIND_COLUMN)
    )
    row_type = RowType([RowField(name, type_) for name, type_ in relation.fields])
    return ColumnsSource(frame, row_type), strategy


def _watched_by_stream(
    frame: DataFrame, time: TimeAttribute
) -> tuple[DataFrame, WatermarkStrategy]:
    """Return unbounded rows without Spark's watermark, and the strategy that gives them theirs.

    Spark has one watermark for rows. Where a table keeps state by it, the stream has none.
    """
    session: Any = frame.sparkSession
    jvm: Any = session._jvm
    without = jvm.org.apache.spark.sql.pyflow.EventTimes.without(frame._jdf)
    if without is None:
        _logger.warning(
            "The table keeps state by its watermark, which its data stream does not have: windows "
            "and timers of the event time do not fire behind to_data_stream(). Convert the table "
            "before its windows and joins, or keep to SQL."
        )
        return frame, WatermarkStrategy.no_watermarks()
    # The strategy is a millisecond behind, the watermark of a table is not.
    behind = Duration.of_millis(max(time.delay_ms - 1, 0))
    made = type(frame)(without, session)
    return made, WatermarkStrategy.for_bounded_out_of_orderness(behind)


def _with_schema(relation: Relation, schema: Schema, context: TableContext) -> Relation:
    """Return the relation with the columns of a schema, which may leave out and convert some."""
    for entry in schema.columns:
        if isinstance(entry, UnresolvedMetadataColumn):
            raise TableException(
                f"Column '{entry.name}' is metadata. The event time of a data stream is not "
                f"supported as a column. {_AS_FIELD}"
            )
    own = dict(relation.fields)
    declared = [entry for entry in schema.columns if isinstance(entry, UnresolvedPhysicalColumn)]
    if not declared:
        physical = [UnresolvedPhysicalColumn(name, None, type_) for name, type_ in relation.fields]
        schema = Schema((*physical, *schema.columns), schema.watermarks, schema.key)
    for entry in declared:
        if entry.name not in own:
            raise TableException(
                f"Unable to find a field named '{entry.name}' in the type of the data stream. "
                f"Currently available fields are: [{', '.join(own)}]"
            )
        if not fits(own[entry.name], entry.data_type):
            raise TableException(
                f"Column '{entry.name}' is declared as {entry.data_type.sql}, but the data stream "
                f"has {own[entry.name].sql}."
            )
    types = {entry.name: entry.data_type for entry in declared}
    fields = tuple((name, types.get(name, type_)) for name, type_ in relation.fields)
    columns = [
        convert(column(name), own[name], data_type).alias(name) for name, data_type in fields
    ]
    frame = relation.frame.select(*columns, *relation.changes)
    typed = replace(relation, frame=frame, fields=fields)
    return shaped(typed, schema, _NAME, context)


def _with_fields(relation: Relation, nodes: Sequence[Node], context: TableContext) -> Relation:
    """Return the relation with columns that expressions name.

    They select by name where one of them is a field of the stream, and rename by position
    otherwise. A processing time may follow at the end.
    """
    fields = [node for node in nodes if not isinstance(node, WindowProperty)]
    times = [node for node in nodes if isinstance(node, WindowProperty)]
    if any(time.kind != "proctime" for time in times):
        raise TableException(
            f"The event time of a data stream is not supported as a column. {_AS_FIELD}"
        )
    if list(nodes) != [*fields, *times] or len(times) > 1:
        raise TableException("A processing time must be the last field, and the only one.")
    named = [_name(node) for node in fields]
    if set(named) & set(relation.names):
        for name in named:
            if name not in relation.names:
                raise TableException(
                    f"{name} is not a field of the data stream. "
                    f"Expected: {', '.join(relation.names)}"
                )
        relation = project(relation, fields, context)
    elif len(named) <= len(relation.names):
        relation = project(relation, [Field(n) for n in relation.names[: len(named)]], context)
        relation = relation.renamed(named)
    else:
        raise TableException(
            f"The data stream has {len(relation.names)} fields, but {len(named)} were named."
        )
    for time in times:
        relation = with_processing_time(relation, time.alias)
    return relation


def _name(node: Node) -> str:
    child = node.child if isinstance(node, Alias) else node
    if not isinstance(child, Field):
        raise TableException(
            f"A field of a data stream is named by col(...), also with an alias, not by {node}."
        )
    return child.name


def with_processing_time(relation: Relation, name: str) -> Relation:
    """Return the rows with a column more that has the time of their batch."""
    return Relation(
        relation.rows(F.current_timestamp().alias(name)),
        (*relation.fields, (name, DataTypes.TIMESTAMP_LTZ(3).not_null())),
        time_attributes={**relation.time_attributes, name: TimeAttribute("proctime")},
    )
