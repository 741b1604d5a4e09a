"""Tables that a descriptor describes: as relations to read, and as targets of insertions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import functions as F

from pyflow.connectors import connector_of
from pyflow.connectors.connector import Connector, DescribedTable, Metadata
from pyflow.session.options import value_of
from pyflow.streaming.plan.watermarks import with_event_time
from pyflow.table.catalogs.objects import ObjectIdentifier, TableView
from pyflow.table.catalogs.spark_table import SparkTable
from pyflow.table.changes.changelog import changes_of_values, numbered, rows_by_key
from pyflow.table.changes.relation import (
    DELETED,
    KIND,
    Declared,
    Relation,
    TimeAttribute,
    check_unique,
    column,
    with_watermark_of_rows,
)
from pyflow.table.columns.conversion import convert
from pyflow.table.columns.nodes import Node, Sql
from pyflow.table.expression import Expression
from pyflow.table.relations.projection import node_of, scope_of
from pyflow.table.relations.streams import upserts as stream_upserts
from pyflow.table.relations.windows import as_instant
from pyflow.table.runtime.streams.upserts import Conflict
from pyflow.table.schema import (
    Schema,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
)
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import (
    BigIntType,
    BinaryType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    NullType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from pyflow.types.parts import parts_of
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

    from pyflow.table.catalogs.manager import Entry
    from pyflow.table.context import TableContext
    from pyflow.table.table_descriptor import TableDescriptor


_CLOCK = "$clock"


def relation_of(descriptor: TableDescriptor, identifier: str, context: TableContext) -> Relation:
    """Return the relation of a table that its connector reads."""
    schema, described = _described_to_read(descriptor, identifier)
    frame = _read(descriptor, described, context)
    updating = KIND in frame.columns
    if updating and not context.is_streaming:
        raise TableException(
            f"Querying a table in batch mode is currently only possible for INSERT-only table "
            f"sources. But the source for table '{identifier}' produces other changelog messages "
            "than just INSERT."
        )
    metadata = tuple((each.name, each.data_type) for each in described.metadata)
    key = described.primary_key if updating and described.primary_key else None
    stored = Relation(frame, (*described.columns, *metadata), key=key, updating=updating)
    return shaped(stored, schema, identifier, context)


def relation_of_entry(entry: Entry, context: TableContext) -> Relation:
    """Return the rows of what is registered under a name: a table, or a view.

    Raises
    ------
    TableException
        If it cannot be read.
    """
    table = entry.table
    if isinstance(table, TableView):
        assert table.relation is not None
        return table.relation
    if isinstance(table, SparkTable) or not table.is_view:
        return relation_of(table._descriptor, entry.identifier, context)
    return context.view(entry)


def _described_to_read(
    descriptor: TableDescriptor, identifier: str
) -> tuple[Schema, DescribedTable]:
    schema = descriptor.get_schema()
    if schema is None:
        raise TableException(f"The descriptor of table {identifier} has no schema.")
    return schema, _described(descriptor, identifier, _physical(schema))


def connector_to_read(descriptor: TableDescriptor, identifier: str) -> tuple[Connector, Schema]:
    """Return what reads a table, and its schema."""
    schema, described = _described_to_read(descriptor, identifier)
    connector = connector_of(described)
    connector.check_metadata(written=False)
    return connector, schema


def shaped(relation: Relation, schema: Schema, identifier: str, context: TableContext) -> Relation:
    """Return the relation with the columns of a schema, computed ones and watermarks among them.

    Parameters
    ----------
    relation
        The stored columns, which may be more than those of the schema.
    schema, identifier
        What describes the table, and how it is called in errors.
    """
    found, columns, times = columns_of(relation, schema, context)
    times.update(_watermark(schema, dict(found), identifier))
    frame = relation.frame.select(*columns, *relation.changes)
    if relation.unbounded:
        idle = value_of(context.config.get_configuration(), "table.exec.source.idle-timeout")
        frame = watched(frame, dict(found), times, idle.to_millis())
    declared = Declared(frame, schema)
    return replace(relation, frame=frame, fields=found, time_attributes=times, declared=declared)


def columns_of(
    relation: Relation,
    schema: Schema,
    context: TableContext,
    stored: Mapping[str, Column] | None = None,
) -> tuple[tuple[tuple[str, DataType], ...], list[Column], dict[str, TimeAttribute]]:
    """Return the columns of a schema over the stored ones: names with types, values, times.

    Parameters
    ----------
    relation, schema
        The stored columns, and what describes the table.
    stored
        What the stored columns are, where they are no columns of the relation's frame.
    """
    check_unique([entry.name for entry in schema.columns])
    scope = replace(scope_of(relation, context), columns=stored or {})
    found: list[tuple[str, DataType]] = []
    columns: list[Column] = []
    times: dict[str, TimeAttribute] = {}
    for entry in schema.columns:
        if isinstance(entry, (UnresolvedPhysicalColumn, UnresolvedMetadataColumn)):
            found.append((entry.name, entry.data_type))
            columns.append(column(entry.name) if stored is None else stored[entry.name])
        elif isinstance(entry, UnresolvedComputedColumn):
            if _is_proctime(entry.expression):
                found.append((entry.name, DataTypes.TIMESTAMP_LTZ(3).not_null()))
                columns.append(F.current_timestamp().alias(entry.name))
                times[entry.name] = TimeAttribute("proctime")
                continue
            resolved = scope.resolve(_node_of(entry.expression, context))
            found.append((entry.name, resolved.data_type))
            columns.append(resolved.column.alias(entry.name))
    return tuple(found), columns, times


def declared_fields(schema: Schema, context: TableContext) -> tuple[tuple[str, DataType], ...]:
    """Return names and types of the columns of a schema, without what reads the table.

    Raises
    ------
    TableException
        If an expression of a column or watermark means nothing.
    """
    stored = tuple(
        (entry.name, entry.data_type)
        for entry in schema.columns
        if isinstance(entry, (UnresolvedPhysicalColumn, UnresolvedMetadataColumn))
    )
    if len(stored) == len(schema.columns) and not schema.watermarks:
        return stored
    row_type = RowType([RowField(name, data_type) for name, data_type in stored])
    frame = context.session.createDataFrame([], cast("StructType", to_spark(row_type)))
    found, _, _ = columns_of(Relation(frame, stored), schema, context)
    _watermark(schema, dict(found), "of this schema")
    return found


def watched(
    frame: DataFrame,
    types: dict[str, DataType],
    times: dict[str, TimeAttribute],
    idle_timeout_ms: int = 0,
) -> DataFrame:
    """Return the rows of a stream with the watermark of their time.

    Spark watches instants. The wall clock of a TIMESTAMP is watched as if it were one of UTC, whose
    microseconds are those that Spark compares later.
    """
    for name, time in times.items():
        if time.kind != "rowtime":
            continue
        delay = f"{time.delay_ms} milliseconds"
        if isinstance(types[name], LocalZonedTimestampType):
            frame = with_event_time(frame, name, delay, idle_timeout_ms)
        else:
            clock = frame.withColumn(_CLOCK, as_instant(name))
            frame = with_event_time(clock, _CLOCK, delay, idle_timeout_ms).drop(_CLOCK)
        frame = with_watermark_of_rows(frame, name)
    return frame


def _read(
    descriptor: TableDescriptor, described: DescribedTable, context: TableContext
) -> DataFrame:
    """Return the rows of a table; those of a stream by the same frame each time.

    Queries that read a table in two places then have one source of it, with one offset.
    """
    known = context.frames.get(id(descriptor))
    if known is not None:
        return known[1]
    connector = connector_of(described)
    connector.check_metadata(written=False)
    frame = connector.read(context)
    unbounded = frame.isStreaming
    if unbounded and not context.is_streaming:
        raise TableException(
            f"Querying an unbounded table {described.identifier} in batch mode is not allowed. "
            "The table source is unbounded."
        )
    if connector.reads_upserts:
        frame = _changes_of_upserts(frame, described, unbounded, context)
    if unbounded:
        context.frames[id(descriptor)] = (descriptor, frame)
    return frame


def _changes_of_upserts(
    frame: DataFrame, described: DescribedTable, unbounded: bool, context: TableContext
) -> DataFrame:
    """Return the changes of a table of which the newest row of each key comes."""
    by = described.primary_key
    metadata = [(each.name, each.data_type) for each in described.metadata]
    types = dict(described.columns)
    keys = [(name, types[name]) for name in by]
    values = [each for each in (*described.columns, *metadata) if each[0] not in by]
    deleted = column(DELETED)
    if unbounded:
        return stream_upserts.changes_of_upserts(frame, keys, values, deleted, context)
    return changes_of_values(frame, by, values, deleted)


def _physical(schema: Schema) -> tuple[tuple[str, DataType], ...]:
    physical = [e for e in schema.columns if isinstance(e, UnresolvedPhysicalColumn)]
    return tuple((entry.name, entry.data_type) for entry in physical)


def _metadata(schema: Schema) -> tuple[Metadata, ...]:
    entries = [e for e in schema.columns if isinstance(e, UnresolvedMetadataColumn)]
    return tuple(
        Metadata(e.name, e.metadata_key or e.name, e.data_type, not e.is_virtual) for e in entries
    )


def _described(
    descriptor: TableDescriptor, identifier: str, columns: Sequence[tuple[str, DataType]]
) -> DescribedTable:
    schema = descriptor.get_schema()
    key = None if schema is None else schema.key
    return DescribedTable(
        identifier=identifier,
        columns=tuple(columns),
        options=descriptor.get_options(),
        partition_keys=tuple(descriptor.get_partition_keys()),
        primary_key=() if key is None else key.columns,
        metadata=() if schema is None else _metadata(schema),
    )


def _node_of(expression: Any, context: TableContext) -> Node:
    if isinstance(expression, Expression):
        return node_of(expression, context)
    return Sql(str(expression))


def _is_proctime(expression: Any) -> bool:
    return isinstance(expression, str) and bool(
        re.fullmatch(r"\s*PROCTIME\s*\(\s*\)\s*", expression, re.IGNORECASE)
    )


_WATERMARK = re.compile(
    r"\s*(?P<column>`(?:[^`]|``)+`|\w+)\s*"
    r"(?:-\s*INTERVAL\s*'(?P<number>\d+(?:\.\d+)?)'\s*(?P<unit>SECOND|MINUTE|HOUR|DAY)S?"
    r"(?:\s*\(\s*\d+\s*\))?\s*)?",
    re.IGNORECASE,
)
_UNIT_MS = {"SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000}


def check_watermark(name: str, types: Mapping[str, DataType], identifier: str) -> None:
    """Raise if a column cannot have a watermark."""
    data_type = types.get(name)
    if not isinstance(data_type, (TimestampType, LocalZonedTimestampType)):
        its_type = "nothing" if data_type is None else data_type.sql
        raise TableException(
            f"Table {identifier}: the watermark is for {name!r}, which must be a column of type "
            f"TIMESTAMP or TIMESTAMP_LTZ, not {its_type}."
        )


def _watermark(
    schema: Schema, types: dict[str, DataType], identifier: str
) -> dict[str, TimeAttribute]:
    times = {}
    for spec in schema.watermarks:
        check_watermark(spec.column_name, types, identifier)
        text = str(spec.expression)
        found = _WATERMARK.fullmatch(text)
        if found is None or found["column"].strip("`") != spec.column_name:
            raise TableException(
                f"Table {identifier}: the watermark of {spec.column_name!r} is {text!r}, expected "
                f"the column, or the column minus an interval: "
                f"{spec.column_name} - INTERVAL '5' SECOND."
            )
        unit = found["unit"]
        delay = 0 if unit is None else int(float(found["number"]) * _UNIT_MS[unit.upper()])
        times[spec.column_name] = TimeAttribute("rowtime", delay)
    return times


@dataclass(frozen=True)
class Insertion:
    """Rows and the table that they are written into, checked.

    Parameters
    ----------
    connector
        What writes them.
    rows
        The rows, with the columns of the table.
    overwrite
        Whether rows that are there are replaced.
    name
        The table's name, or how a table without one is called.
    path
        The table's full name; None for a table that only a descriptor describes.
    """

    connector: Connector
    rows: Relation
    overwrite: bool
    name: str
    path: tuple[str, str, str] | None

    def run(self, context: TableContext) -> None:
        """Write the rows."""
        self.connector.write(self.rows, self.overwrite, context)

    @property
    def object_identifier(self) -> ObjectIdentifier | None:
        """The table's full name as programs get it."""
        return None if self.path is None else ObjectIdentifier.of(*self.path)


def insertion_into(
    target: str | TableDescriptor,
    relation: Relation,
    overwrite: bool,
    context: TableContext,
    on_conflict: str | None = None,
) -> Insertion:
    """Return the insertion of a relation into a table of a name, or into one that is described.

    Raises
    ------
    TableException
        If there is no such table, or it does not take the rows.
    """
    if not isinstance(target, str):
        name = "of a descriptor"
        return insertion_of(target, name, None, relation, overwrite, context, on_conflict)
    entry = context.catalogs.find(target)
    if entry.descriptor is None:
        raise TableException(f"{entry.identifier} is a view: it cannot be written.")
    return insertion_of(
        entry.descriptor, entry.identifier, entry.path, relation, overwrite, context, on_conflict
    )


def insertion_of(
    descriptor: TableDescriptor,
    identifier: str,
    path: tuple[str, str, str] | None,
    relation: Relation,
    overwrite: bool,
    context: TableContext,
    on_conflict: str | None = None,
) -> Insertion:
    """Return the insertion of a relation into a table, or raise if the table does not take it.

    Parameters
    ----------
    on_conflict
        What becomes of rows that meet under the key of the table: a word of ``Conflict``. Where
        none is given, the last one counts if the table is written by its key.
    """
    schema = descriptor.get_schema()
    columns = () if schema is None else _physical(schema)
    described = _described(descriptor, identifier, columns or relation.fields)
    connector = connector_of(described)
    connector.check_sink(overwrite)
    if overwrite:
        relation.refuse_unbounded(f"INSERT OVERWRITE of {identifier}")
    connector.check_metadata(written=True)
    if relation.updating and not connector.takes_changes:
        raise TableException(
            f"Table sink {identifier} doesn't support consuming update and delete changes, which "
            f"the query produces. The connector {connector.identifier!r} only appends rows."
        )
    target = described.columns if schema is None else _written_columns(schema)
    rows = converted(relation, identifier, target or described.columns)
    if on_conflict is not None and not (connector.applies_by_key or connector.forgets_rows):
        raise TableException(
            f"Table sink {identifier} is not written by a key, so that there is no ON CONFLICT for "
            f"it. The connector {connector.identifier!r} "
            + ("has no primary key here." if not described.primary_key else "writes all changes.")
        )
    if connector.applies_by_key:
        names = dict(zip(relation.names, rows.names))
        key = None if relation.key is None else tuple(names[name] for name in relation.key)
        rows = _by_key(rows, key, described, on_conflict, context)
    name = "Unregistered_Sink" if path is None else ".".join(path)
    return Insertion(connector, rows, overwrite, name, path)


def _by_key(
    rows: Relation,
    key: tuple[str, ...] | None,
    sink: DescribedTable,
    on_conflict: str | None,
    context: TableContext,
) -> Relation:
    """Return rows for a table that applies them by its key.

    Where changes of several rows may meet under one key, one of these is kept.

    Parameters
    ----------
    rows
        With the columns of the table.
    key
        The columns by which the query's changes are known; None where that is not so.
    """
    setting = "table.exec.sink.upsert-materialize"
    how = value_of(context.config.get_configuration(), setting)
    conflict = Conflict(on_conflict or Conflict.LAST, sink.identifier)
    may_meet = key is None or not set(key) <= set(sink.primary_key)
    needed = may_meet and (rows.updating or conflict.strategy != Conflict.LAST)
    if how == "NONE" or not (needed or (how == "FORCE" and rows.unbounded)):
        return rows
    if rows.unbounded:
        return stream_upserts.rows_by_key(rows, sink.primary_key, key, conflict, context)
    return rows_by_key(replace(numbered(rows), key=key), sink.primary_key, conflict)


def _written_columns(schema: Schema) -> tuple[tuple[str, DataType], ...]:
    """Return the columns of the rows that are written into a table."""
    return tuple(
        (entry.name, entry.data_type)
        for entry in schema.columns
        if isinstance(entry, UnresolvedPhysicalColumn)
        or (isinstance(entry, UnresolvedMetadataColumn) and not entry.is_virtual)
    )


def converted(
    relation: Relation, identifier: str, target: tuple[tuple[str, DataType], ...]
) -> Relation:
    """Return the relation with the names and types of the table's columns, by position."""
    query = relation.fields
    problem = None
    if len(query) != len(target):
        problem = "Different number of columns."
    else:
        for place, ((_, source), (name, wanted)) in enumerate(zip(query, target), 1):
            if not fits(source, wanted):
                problem = f"Incompatible types for sink column '{name}' at position {place}."
                break
    if problem is not None:
        raise TableException(
            f"Column types of query result and sink for {identifier} do not match.\n"
            f"Cause: {problem}\n\n"
            f"Query schema: [{_text(query)}]\nSink schema:  [{_text(target)}]"
        )
    columns = []
    for (old, source), (name, wanted) in zip(query, target):
        value = convert(column(old), source, wanted)
        if source._nullable and not wanted._nullable:
            value = _not_null(value, name, identifier)
        columns.append(value.alias(name))
    frame = relation.frame.select(*columns, *relation.changes)
    return replace(relation, frame=frame, fields=target, time_attributes={}, key=None, order=None)


def _not_null(value: Column, name: str, identifier: str) -> Column:
    message = (
        f"Column '{name}' is NOT NULL, however, a null value is being written into it: "
        f"table {identifier}"
    )
    return F.when(value.isNull(), F.raise_error(F.lit(message))).otherwise(value)


def _text(fields: Sequence[tuple[str, DataType]]) -> str:
    return ", ".join(f"{name}: {data_type.sql}" for name, data_type in fields)


_NUMBERS: tuple[type[DataType], ...] = (
    TinyIntType,
    SmallIntType,
    IntType,
    BigIntType,
    DecimalType,
    FloatType,
    DoubleType,
)
# Types beside numbers, and those whose values they become without a cast.
_BECOME: dict[type[DataType], tuple[type[DataType], ...]] = {
    CharType: (CharType, VarCharType),
    VarCharType: (VarCharType,),
    BinaryType: (BinaryType, VarBinaryType),
    VarBinaryType: (VarBinaryType,),
    TimestampType: (TimestampType, LocalZonedTimestampType, DateType, TimeType),
    LocalZonedTimestampType: (LocalZonedTimestampType, TimestampType),
}


def fits(source: DataType, wanted: DataType) -> bool:
    """Return whether values of a type become values of another without a cast being written."""
    if isinstance(source, NullType) or source.nullable() == wanted.nullable():
        return True
    one, other = type(source), type(wanted)
    if one in _NUMBERS and other in _NUMBERS:
        return other is DecimalType or _NUMBERS.index(one) <= _NUMBERS.index(other)
    if one in _BECOME:
        return other in _BECOME[one]
    inner = parts_of(source), parts_of(wanted)
    return one is other and len(inner[0]) == len(inner[1]) and all(map(fits, *inner))
