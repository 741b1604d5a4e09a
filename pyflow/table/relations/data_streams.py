"""Tables of data streams: how the fields of a stream's objects become columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from pyflow.common.typeinfo import PickledBytesTypeInfo
from pyflow.datastream.data_stream import DataStream
from pyflow.table.changes.relation import Relation, TimeAttribute, column
from pyflow.table.columns.conversion import convert
from pyflow.table.columns.nodes import Alias, Field, Node, WindowProperty
from pyflow.table.relations import sources
from pyflow.table.relations.projection import nodes_of, project
from pyflow.table.relations.tables import fits, shaped
from pyflow.table.schema import Schema, UnresolvedMetadataColumn, UnresolvedPhysicalColumn
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import RowType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.context import TableContext

_NAME = "of a data stream"


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
    return sources.of_elements(stream._elements, info.data_type(), False, context).renamed(
        _names(info.data_type())
    )


def _names(data_type: Any) -> list[str]:
    return data_type.field_names() if isinstance(data_type, RowType) else ["f0"]


def _with_schema(relation: Relation, schema: Schema, context: TableContext) -> Relation:
    """Return the relation with the columns of a schema, which may leave out and convert some."""
    for entry in schema.columns:
        if isinstance(entry, UnresolvedMetadataColumn):
            raise TableException(
                f"Column '{entry.name}' is metadata, which the objects of a collection do not have."
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
                f"Column '{entry.name}' is declared as {entry.data_type}, but the data stream has "
                f"{own[entry.name]}."
            )
    types = {entry.name: entry.data_type for entry in declared}
    fields = tuple((name, types.get(name, type_)) for name, type_ in relation.fields)
    columns = [
        convert(column(name), own[name], data_type).alias(name) for name, data_type in fields
    ]
    typed = replace(relation, frame=relation.frame.select(*columns), fields=fields)
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
            "The objects of a collection have no timestamps. Declare the event time with a "
            "schema: a column, and its watermark."
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
