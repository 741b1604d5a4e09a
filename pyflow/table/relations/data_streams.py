"""Tables of data streams: how the fields of a stream's objects become columns."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.common.typeinfo import PickledBytesTypeInfo, RowTypeInfo
from pyflow.common.types import RowKind
from pyflow.datastream.data_stream import DataStream
from pyflow.datastream.graph.columns import (
    KIND_COLUMN,
    TIME_COLUMN,
    ColumnsSink,
)
from pyflow.datastream.graph.lowering_settings import EventTime
from pyflow.table.changes.changelog import changes_of_values, places
from pyflow.table.changes.relation import (
    DELETE,
    KIND,
    SEQUENCE,
    UPDATE_BEFORE,
    Declared,
    Relation,
    TimeAttribute,
    check_unique,
    column,
    with_watermark_of_rows,
)
from pyflow.table.columns.conversion import convert
from pyflow.table.columns.nodes import Alias, Cast, Field, Node, WindowProperty
from pyflow.table.relations import sources
from pyflow.table.relations.projection import nodes_of, project, scope_of
from pyflow.table.relations.streams import upserts as streams
from pyflow.table.relations.tables import check_watermark, fits, shaped
from pyflow.table.relations.windows import as_wall_clock
from pyflow.table.schema import (
    Schema,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedWatermarkSpec,
)
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import (
    BigIntType,
    DataType,
    LocalZonedTimestampType,
    RowField,
    RowType,
    TimestampType,
)
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column

    from pyflow.table.changelog_mode import ChangelogMode
    from pyflow.table.context import TableContext

_NAME = "of a data stream"

# The event time of an element: a column of rows that have it, and its key as metadata in Flink.
_ROWTIME = "$rowtime"
_ROWTIME_KEY = "rowtime"
_OF_EVENT_TIME = (
    Schema.new_builder()
    .column_by_metadata(_ROWTIME, "TIMESTAMP_LTZ(3)", _ROWTIME_KEY)
    .watermark(_ROWTIME, "SOURCE_WATERMARK()")
    .build()
)
_SOURCE_WATERMARK = re.compile(r"\s*SOURCE_WATERMARK\s*\(\s*\)\s*", re.IGNORECASE)

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
    if not fields_or_schema:
        return _relation(stream, None, context)
    if isinstance(fields_or_schema[0], Schema):
        if len(fields_or_schema) > 1:
            raise ValueError("a data stream becomes a table by one schema, or by expressions")
        schema = fields_or_schema[0]
        return _with_schema(_relation(stream, schema, context), schema, stream, context)
    nodes = nodes_of(fields_or_schema, context)
    if any(_is_rowtime(node) for node in nodes):
        return _with_fields(_relation(stream, _OF_EVENT_TIME, context), nodes, stream, context)
    return _with_fields(_relation(stream, None, context), nodes, stream, context)


def _relation(stream: DataStream, schema: Schema | None, context: TableContext) -> Relation:
    """Return the relation of a stream: its fields, and the metadata that a schema has."""
    info = stream.get_type()
    if isinstance(info, PickledBytesTypeInfo):
        raise TableException(
            "The data stream has no type, so that its table would have no columns. Give the "
            "function that makes its elements an output_type, or from_collection() a type_info, "
            "such as Types.ROW([Types.INT(), Types.STRING()])."
        )
    data_type = info.data_type()
    elements = None if metadata_of(schema) else stream._collection()
    if elements is not None:
        return sources.of_elements(elements, data_type, False, context).renamed(_names(data_type))
    return _of_rows(stream, data_type, schema, context)


def _names(data_type: Any) -> list[str]:
    return data_type.field_names() if isinstance(data_type, RowType) else ["f0"]


def _of_rows(
    stream: DataStream, data_type: DataType, schema: Schema | None, context: TableContext
) -> Relation:
    """Return the relation of what a program computes."""
    is_row = isinstance(data_type, RowType)
    row_type = data_type if isinstance(data_type, RowType) else _row_of(data_type)
    sink = ColumnsSink(row_type, is_row, context)
    frame = stream._columns(sink, context, _reader_of_watermark(schema))
    rows = Relation(frame, tuple((each.name, each.data_type) for each in row_type.fields))
    return rows if schema is None else _with_metadata(rows, schema, context)


def _with_metadata(relation: Relation, schema: Schema, context: TableContext) -> Relation:
    """Return the rows with the metadata of a schema behind their own columns."""
    entries = metadata_of(schema)
    if not physical_of(schema):
        check_unique([*relation.names, *(each.name for each in entries)])
    if not entries:
        return relation
    frame = relation.frame.withColumn(_ROWTIME, F.timestamp_millis(_milliseconds()))
    fields = dict(relation.fields)
    scope = scope_of(Relation(frame, ((_ROWTIME, DataTypes.TIMESTAMP_LTZ(3)),)), context)
    for entry in entries:
        check_key(entry)
        value = scope.resolve(Cast(Field(_ROWTIME), entry.data_type, try_cast=False))
        frame = frame.withColumn(entry.name, value.column)
        fields.pop(entry.name, None)
        fields[entry.name] = entry.data_type
    return Relation(frame, tuple(fields.items()))


def _reader_of_watermark(schema: Schema | None) -> EventTime:
    if schema is None or not schema.watermarks:
        return EventTime.OF_OPERATORS
    is_source = any(map(_is_source_watermark, schema.watermarks))
    return EventTime.OF_BOTH if is_source else EventTime.OF_TABLE


def _is_source_watermark(spec: UnresolvedWatermarkSpec) -> bool:
    return bool(_SOURCE_WATERMARK.fullmatch(str(spec.expression)))


def metadata_of(schema: Schema | None) -> list[UnresolvedMetadataColumn]:
    """Return the columns of metadata."""
    entries = () if schema is None else schema.columns
    return [each for each in entries if isinstance(each, UnresolvedMetadataColumn)]


def check_key(entry: UnresolvedMetadataColumn) -> None:
    """Raise for metadata that a data stream does not have."""
    key = entry.metadata_key or entry.name
    if key != _ROWTIME_KEY:
        raise TableException(
            f"Invalid metadata key '{key}' in column '{entry.name}' {_NAME}: '{_ROWTIME_KEY}' is "
            "the only one."
        )


def physical_of(schema: Schema) -> list[UnresolvedPhysicalColumn]:
    """Return the columns that the elements have."""
    return [each for each in schema.columns if isinstance(each, UnresolvedPhysicalColumn)]


def _milliseconds() -> Column:
    time = column(TIME_COLUMN)
    missing = (
        "Could not find timestamp in DataStream API record. Make sure that timestamps have been "
        "assigned before and the event-time characteristic is enabled."
    )
    return F.when(time.isNull(), F.raise_error(F.lit(missing)).cast("bigint")).otherwise(time)


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
    rows = _of_rows(stream, info.data_type(), schema, context)
    kind = column(KIND_COLUMN).cast("tinyint").alias(KIND)
    frame = rows.frame.select(*rows.columns, kind, places(rows.frame).alias(SEQUENCE))
    changes = replace(rows, frame=frame, updating=True)
    kinds = set() if mode is None else mode.kinds
    if RowKind.UPDATE_AFTER in kinds and RowKind.UPDATE_BEFORE not in kinds:
        changes = _changes_of_upserts(changes, schema, context)
    return changes if schema is None else _with_schema(changes, schema, stream, context)


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


def _with_schema(
    relation: Relation, schema: Schema, stream: DataStream, context: TableContext
) -> Relation:
    """Return the relation with the columns of a schema, which may leave out and convert some."""
    metadata = {entry.name for entry in metadata_of(schema)}
    own = {name: type_ for name, type_ in relation.fields if name not in metadata}
    declared = physical_of(schema)
    columns = schema.columns
    if not declared:
        physical = [UnresolvedPhysicalColumn(name, None, type_) for name, type_ in own.items()]
        columns = (*physical, *columns)
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
    values = [
        convert(column(name), type_, data_type).alias(name)
        for (name, type_), (_, data_type) in zip(relation.fields, fields)
    ]
    frame = relation.frame.select(*values, *relation.changes)
    typed = replace(relation, frame=frame, fields=fields)
    watermarks = [each for each in schema.watermarks if not _is_source_watermark(each)]
    made = shaped(typed, Schema(columns, tuple(watermarks), schema.key), _NAME, context)
    for spec in schema.watermarks:
        if _is_source_watermark(spec):
            check_watermark(spec.column_name, dict(made.fields), _NAME)
            made = _watched_by_source(made, spec.column_name, stream)
    described = Schema(columns, schema.watermarks, schema.key)
    return replace(made, declared=Declared(made.frame, described))


def _watched_by_source(relation: Relation, name: str, stream: DataStream) -> Relation:
    """Return the relation with a time attribute that has the watermark of its stream."""
    delays = stream._watermark_delays()
    if relation.unbounded and not delays:
        _logger.warning(
            "The data stream has no watermark, so that windows of its table do not end: call "
            "assign_timestamps_and_watermarks() with a strategy that has one."
        )
    known = [each for each in delays if each is not None]
    time = TimeAttribute("rowtime", max(known, default=0) if None not in delays else None)
    frame = relation.frame
    if relation.unbounded:
        frame = with_watermark_of_rows(frame, name)
    times = {**relation.time_attributes, name: time}
    return replace(relation, frame=frame, time_attributes=times)


def _with_fields(
    relation: Relation, nodes: Sequence[Node], stream: DataStream, context: TableContext
) -> Relation:
    """Return the relation with columns that expressions name.

    They select by name where one of them is a field of the stream, and rename by position
    otherwise. The event time may be one of them, and a processing time may follow at the end.
    """
    clocks = [node for node in nodes if _is_time(node, "proctime")]
    fields = [node for node in nodes if node not in clocks]
    if list(nodes) != [*fields, *clocks] or len(clocks) > 1:
        raise TableException("A processing time must be the last field, and the only one.")
    if sum(map(_is_rowtime, fields)) > 1:
        raise TableException("The rowtime attribute can only be defined once in a table schema.")
    names = [name for name in relation.names if name != _ROWTIME]
    by_name = any(_name(node) in names for node in fields if not _is_rowtime(node))
    types = dict(relation.fields)
    selected: list[Node] = []
    for place, node in enumerate(fields):
        name = _name(node)
        replaced = name if by_name else names[place] if place < len(names) else None
        if _is_rowtime(node):
            if isinstance(node, Alias) and node.names[0] not in names:
                raise TableException(f"Alias '{node.names[0]}' must reference an existing field.")
            _check_replaced(None if replaced is None else types.get(replaced))
            selected.append(Alias(Field(_ROWTIME), (name,)))
        elif by_name:
            if name not in names:
                raise TableException(
                    f"{name} is not a field of the data stream. Expected: {', '.join(names)}"
                )
            selected.append(node)
        elif replaced is None:
            raise TableException(
                f"The data stream has {len(names)} fields, but {len(fields)} were named."
            )
        else:
            selected.append(Alias(Field(replaced), (name,)))
    if _ROWTIME in types:
        # As Flink has it here: the wall clock of UTC.
        frame = relation.frame.withColumn(_ROWTIME, as_wall_clock(_ROWTIME))
        own = [(name, types[name]) for name in names]
        relation = Relation(frame, (*own, (_ROWTIME, DataTypes.TIMESTAMP(3))))
    relation = project(relation, selected, context)
    for node in fields:
        if _is_rowtime(node):
            relation = _watched_by_source(relation, _name(node), stream)
    for node in clocks:
        relation = with_processing_time(relation, _name(node))
    return relation


def _name(node: Node) -> str:
    child = node.child if isinstance(node, Alias) else node
    if isinstance(child, WindowProperty):
        return child.alias
    if not isinstance(child, Field):
        raise TableException(
            f"A field of a data stream is named by col(...), also with an alias, not by {node}."
        )
    return child.name


def _is_time(node: Node, kind: str) -> bool:
    """Return whether an expression of a program is ``.rowtime`` or ``.proctime``."""
    child = node.child if isinstance(node, Alias) else node
    return isinstance(child, WindowProperty) and child.kind == kind


def _is_rowtime(node: Node) -> bool:
    return _is_time(node, "rowtime")


def _check_replaced(data_type: DataType | None) -> None:
    """Raise if the event time cannot stand for a field of a type."""
    times = (BigIntType, TimestampType, LocalZonedTimestampType)
    if data_type is not None and not isinstance(data_type, times):
        raise TableException(
            "The rowtime attribute can only replace a field with a valid time type, such as "
            f"Timestamp or Long. But was: {data_type.sql}"
        )


def with_processing_time(relation: Relation, name: str) -> Relation:
    """Return the rows with a column more that has the time of their batch."""
    return Relation(
        relation.rows(F.current_timestamp().alias(name)),
        (*relation.fields, (name, DataTypes.TIMESTAMP_LTZ(3).not_null())),
        time_attributes={**relation.time_attributes, name: TimeAttribute("proctime")},
    )
