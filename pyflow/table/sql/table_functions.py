"""Functions in FROM: windows by time, table functions of the program, UNNEST."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from sqlglot import exp

from pyflow.table.changes.changelog import settled
from pyflow.table.changes.relation import (
    Relation,
    TimeAttribute,
    WindowColumns,
    column,
    made_again,
    unused,
    with_watermark,
    without_watermark,
)
from pyflow.table.columns.nodes import Alias, Descriptor, Field, FunctionCall, NamedArgument, Node
from pyflow.table.columns.time_values import local_of_micros
from pyflow.table.functions.resolution import interval_ms
from pyflow.table.relations import grouping, joins, projection
from pyflow.table.relations.changelog_functions import Operations, from_changelog, to_changelog
from pyflow.table.relations.streams import clock_windows
from pyflow.table.relations.streams import windows as stream_windows
from pyflow.table.relations.windows import (
    fixed_windows,
    is_by_clock,
    is_processing_time,
    last_moment,
    sessions,
    wall_clock_of,
)
from pyflow.table.sql import tree
from pyflow.table.sql.names import Rows, Source
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import (
    ArrayType,
    DataType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.table.context import TableContext
    from pyflow.table.sql.query_base import Query

_START, _END, _TIME = "window_start", "window_end", "window_time"
# The end of a window as Spark compares it with the watermark; beside the columns of a stream.
_CLOSED = "$window_end"
# Names that Spark's session window functions of the planner work with.
_SESSION_START, _SESSION_END, _CLOCK = "$start", "$end", "$time"

# Arguments of each window table function after DATA and TIMECOL; the last may be missing.
_WINDOWS = {
    "TUMBLE": ("SIZE", "OFFSET"),
    "HOP": ("SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("STEP", "SIZE", "OFFSET"),
    "SESSION": ("GAP",),
}
_CHANGELOGS = ("TO_CHANGELOG", "FROM_CHANGELOG")


def table_function(query: Query, call: exp.Expr) -> Rows:
    """Return the rows of TABLE(f(...))."""
    if not isinstance(call, exp.Anonymous):
        query.refuse(call, "a call of a table function expected")
    if call.name.upper() in _WINDOWS:
        return _windows(query, call)
    if call.name.upper() in _CHANGELOGS:
        return _changelog(query, call)
    lateral_call = exp.TableFromRows(this=call)
    return lateral(query, Rows(query.one_row()), lateral_call, call, outer=False)


# Changes as rows


def _changelog(query: Query, call: exp.Anonymous) -> Rows:
    name = call.name.upper()
    arguments = _arguments(query, call, ("INPUT", "OP", "OP_MAPPING"), ("OP", "OP_MAPPING"))
    data = _table_argument(query, arguments.pop("INPUT"), name)
    rows = query.from_(data.this)
    if data.args.get("partitions"):
        query.refuse(data, f"PARTITION BY of a table in {name} is not supported")
    selection = [Alias(Field(field), (visible,)) for visible, field in rows.visible()]
    relation = projection.project(rows.relation, selection, query.context)
    translator = query.translator(rows)
    named: list[Node] = []
    for argument, value in arguments.items():
        if isinstance(value, tree.Descriptor):
            node: Node = Descriptor(tuple(each.name for each in value.expressions))
        else:
            node = translator.node(value)
        named.append(NamedArgument(argument.lower(), node))
    with translator.at(call):
        convert = from_changelog if name == "FROM_CHANGELOG" else to_changelog
        result = convert(relation, Operations.of(named), query.context)
    return Rows(result, (Source((), tuple((each, each) for each in result.names)),))


# Windows by time


def _windows(query: Query, call: exp.Anonymous) -> Rows:
    name = call.name.upper()
    arguments = _arguments(query, call, ("DATA", "TIMECOL", *_WINDOWS[name]), ("OFFSET",))
    data = _table_argument(query, arguments["DATA"], name)
    rows = query.from_(data.this)
    if name == "SESSION" and data.args.get("order"):
        query.refuse(data, "ORDER BY of a table in a window function is not supported")
    translator = query.translator(rows)
    time = _time_column(query, rows, arguments["TIMECOL"], name)
    relation = settled(rows.relation)
    data_type = dict(relation.fields)[time]
    lengths = {}
    for key in _WINDOWS[name]:
        if key in arguments:
            with translator.at(arguments[key]):
                lengths[key] = interval_ms(translator.node(arguments[key]))
            if lengths[key] <= 0 and key != "OFFSET":
                query.refuse(arguments[key], f"the {key.lower()} of {name} must be positive")
    taken = [visible for visible, _ in rows.visible()]
    for added in (_START, _END, _TIME):
        if added in taken:
            query.refuse(call, f"the table has a column '{added}' already")
    if name == "SESSION":
        keys = []
        for part in data.args.get("partitions") or ():
            node = translator.node(part)
            if not isinstance(node, Field):
                query.refuse(part, "PARTITION BY of a window function takes columns")
            keys.append(node.name)
        bounds = (_SESSION_START, _SESSION_END)
        if is_by_clock(relation, time):
            with translator.at(call):
                frame = clock_windows.sessions(
                    relation, keys, lengths["GAP"], bounds, query.context
                )
        elif relation.unbounded:
            frame = stream_windows.sessions(
                relation, keys, time, lengths["GAP"], bounds, query.context
            )
        else:
            frame = relation.frame.withColumn(_CLOCK, wall_clock_of(time, data_type))
            frame = sessions(frame.filter(column(_CLOCK).isNotNull()), keys, lengths["GAP"])
        start, end = column(_SESSION_START), column(_SESSION_END)
    else:
        if data.args.get("partitions"):
            query.refuse(data, f"PARTITION BY of a table in {name} is not supported")
        try:
            frame, start, end = _fixed(relation, time, lengths, query.context)
        except ValueError as error:
            query.refuse(call, str(error))
    zoned = isinstance(data_type, LocalZonedTimestampType)
    clock = DataTypes.TIMESTAMP(3).not_null()
    by_clock = is_processing_time(relation, time)
    watched = relation.unbounded and not by_clock
    kept = [column(field) for field in relation.names]
    new = {each: unused(each, relation.names) for each in (_START, _END, _TIME)}
    if watched and name == "SESSION":
        end = with_watermark(end, _CLOSED)
    frame = frame.select(*kept, start.alias(_START + "$"), end.alias(_CLOSED))
    last = last_moment(column(_CLOSED)).cast("timestamp_ltz" if zoned else "timestamp_ntz")
    frame = frame.select(
        *kept,
        column(_START + "$").cast("timestamp_ntz").alias(new[_START]),
        column(_CLOSED).cast("timestamp_ntz").alias(new[_END]),
        with_watermark(last, new[_TIME]) if watched else last.alias(new[_TIME]),
        *([with_watermark(column(_CLOSED), _CLOSED)] if watched else []),
        *([column(_CLOSED)] if is_by_clock(relation, time) else []),
    )
    types = (clock, clock, DataTypes.TIMESTAMP_LTZ(3).not_null() if zoned else clock)
    fields = (*relation.fields, *zip(new.values(), types))
    of_window = TimeAttribute("proctime" if by_clock else "rowtime")
    times = {**relation.time_attributes, new[_TIME]: of_window}
    window = WindowColumns(new[_START], new[_END], zoned, by_clock)
    result = Relation(frame, fields, time_attributes=times, window=window)
    columns = (*rows.visible(), *((visible, field) for visible, field in new.items()))
    return Rows(result, (Source((), columns),))


def _table_argument(query: Query, value: exp.Expr, function: str) -> tree.TableArgument:
    if isinstance(value, (exp.Table, exp.Subquery)):
        value = tree.TableArgument(this=value)
    if not isinstance(value, tree.TableArgument):
        query.refuse(value, f"{function} takes a table: TABLE name")
    return value


def _arguments(
    query: Query, call: exp.Anonymous, names: Sequence[str], optional: Sequence[str]
) -> dict[str, exp.Expr]:
    found: dict[str, exp.Expr] = {}
    for position, argument in enumerate(call.expressions):
        if isinstance(argument, exp.Kwarg):
            name = argument.this.name.upper()
            if name not in names:
                query.refuse(
                    argument, f"{call.name} has no argument {name}; it has {', '.join(names)}"
                )
            found[name] = argument.expression
        elif position < len(names):
            found[names[position]] = argument
        else:
            query.refuse(argument, f"{call.name} takes at most {len(names)} arguments")
    for name in names:
        if name not in found and name not in optional:
            query.refuse(call, f"{call.name} needs the argument {name}")
    return found


def _time_column(query: Query, rows: Rows, descriptor: exp.Expr, name: str) -> str:
    if not isinstance(descriptor, tree.Descriptor) or len(descriptor.expressions) != 1:
        query.refuse(descriptor, f"{name} takes DESCRIPTOR(column) as its time column")
    identifier = descriptor.expressions[0]
    found, _ = rows.find([identifier.name])
    if len(found) != 1:
        query.refuse(identifier, rows.missing([identifier.name]))
    data_type = dict(rows.relation.fields)[found[0]]
    attribute = rows.relation.time_attributes.get(found[0])
    if not isinstance(data_type, (TimestampType, LocalZonedTimestampType)) or (
        query.context.is_streaming and attribute is None
    ):
        query.refuse(
            identifier,
            f"The window function {name} requires the timecol is a time attribute type, but is "
            f"{data_type.sql}" + ("; declare a watermark for it" if attribute is None else ""),
        )
    return found[0]


def _fixed(
    relation: Relation, time: str, lengths: dict[str, int], context: TableContext
) -> tuple[DataFrame, Column, Column]:
    size = lengths["SIZE"]
    slide = lengths.get("SLIDE", size)
    step = lengths.get("STEP")
    if step is not None and size % step:
        raise ValueError("the size of CUMULATE must be a multiple of its step")
    offset = lengths.get("OFFSET", 0)
    frame, start, end = fixed_windows(relation, time, size, slide, offset, context.time_zone())
    if step is None:
        return frame, start, end
    # The windows of a row end at each step after it, up to the end of the longest.
    steps = F.sequence(start, end, F.expr(f"INTERVAL '{step / 1000:.3f}' SECOND"))
    frame = frame.withColumns({_SESSION_START: start, _SESSION_END: F.explode(steps)})
    frame = frame.filter(column(_SESSION_END) > column(_CLOCK))
    return frame, column(_SESSION_START), column(_SESSION_END)


def aggregate_windows(
    relation: Relation,
    groupings: Sequence[Node],
    aggregates: dict[str, Node],
    context: TableContext,
) -> Relation:
    """Return the groups of windows, each once, when its window has ended."""
    window = relation.window
    assert window is not None
    prepared, keys = grouping.with_keys(relation, groupings, context)
    times = {k: v for k, v in relation.time_attributes.items() if k in keys}
    if window.by_clock and relation.unbounded:
        hidden = _CLOSED in prepared.frame.columns
        end = column(_CLOSED) if hidden else stream_windows.end_instant(window, context)
        result = clock_windows.aggregate(prepared, keys, aggregates, end, context)
    elif relation.unbounded:
        result = _aggregate_streams(prepared, keys, aggregates, context)
    else:
        result = grouping.aggregate_once(prepared, keys, aggregates, context)
        result = replace(result, frame=result.frame.orderBy(column(window.end)))
    return replace(result, key=None, time_attributes=times, window=window)


def _aggregate_streams(
    relation: Relation,
    keys: Sequence[str],
    aggregates: dict[str, Node],
    context: TableContext,
) -> Relation:
    """Return the groups of windows that the watermark has passed.

    Spark takes one key with a watermark: the end of the window, as the instant that it is.
    """
    if _CLOSED not in relation.frame.columns:
        moment = stream_windows.last_moment_of(relation, context)
        closed = with_watermark(local_of_micros(moment + 1000), _CLOSED)
        relation = replace(relation, frame=relation.frame.select("*", closed))
    plain = {key: without_watermark(key) for key in keys}
    rows = replace(
        relation,
        frame=relation.frame.withColumns(plain),
        fields=(*relation.fields, (_CLOSED, DataTypes.TIMESTAMP(3))),
    )
    result = grouping.aggregate_once(rows, [*keys, _CLOSED], aggregates, context)
    fields = tuple(entry for entry in result.fields if entry[0] != _CLOSED)
    columns = [
        with_watermark(column(name), name) if name in relation.time_attributes else column(name)
        for name, _ in fields
    ]
    return replace(result, frame=result.frame.select(*columns), fields=fields)


# Table functions and UNNEST


def lateral(query: Query, left: Rows, table: exp.Expr, call: exp.Anonymous, outer: bool) -> Rows:
    """Return each row of the left with the rows that a table function returns for it."""
    context = query.context
    with query.translator(left).at(call):
        wrapper = context.function(call.name)
    if wrapper is None:
        query.refuse(call, f"No match found for table function '{call.name}'")
    if getattr(wrapper, "kind", "") != "table":
        query.refuse(call, f"'{call.name}' is no table function")
    translator = query.translator(left)
    arguments = tuple(translator.node(argument) for argument in call.expressions)
    function = FunctionCall(wrapper, arguments)
    visible = [name for name, _ in joins.results_of(function, context)]
    fields: list[str] = []
    for name in visible:
        fields.append(unused(name, [*left.relation.names, *fields]))
    with translator.at(call):
        relation = joins.join_lateral(
            left.relation, Alias(function, tuple(fields)), None, outer, context
        )
    return replace(
        left, relation=relation, sources=(*left.sources, source_of(query, table, visible, fields))
    )


def source_of(
    query: Query, table: exp.Expr, visible: Sequence[str], fields: Sequence[str]
) -> Source:
    """Return the columns of a table reference under the names that it gives them."""
    alias = table.args.get("alias")
    if alias is None:
        return Source((), tuple(zip(visible, fields)))
    names = [identifier.name for identifier in alias.columns]
    if names and len(names) != len(visible):
        query.refuse(
            alias,
            "List of column aliases must have same degree as table; the returned table has "
            f"{len(visible)} columns, whereas alias list has {len(names)} columns",
        )
    return Source((alias.this.name,), tuple(zip(names or visible, fields)))


def unnest(query: Query, left: Rows, table: exp.Unnest, outer: bool) -> Rows:
    """Return each row of the left with the elements of a collection."""
    if len(table.expressions) != 1:
        query.refuse(table.expressions[1], "UNNEST of several collections is not supported")
    written = table.expressions[0]
    translator = query.translator(left)
    relation = left.relation
    node = translator.node(written)
    with translator.at(written):
        resolved = projection.scope_of(relation, query.context).resolve(node)
    ordinality = bool(table.args.get("offset"))
    data_type = resolved.data_type
    visible, types, kind = _elements(data_type)
    if visible is None:
        query.refuse(written, f"UNNEST takes an ARRAY, MAP or MULTISET, not {data_type.sql}")
    value, place = unused("$element", relation.names), unused("$place", relation.names)
    explode = F.posexplode_outer if outer else F.posexplode
    collection = resolved.column
    if kind == "map":
        collection = F.map_entries(collection)
    elif kind == "multiset":
        entries = F.map_entries(collection)
        collection = F.flatten(
            F.transform(entries, lambda e: F.array_repeat(e.getField("key"), e.getField("value")))
        )
    elif kind == "row" and not ordinality:
        # Flink has no row for one that is null.
        collection = F.filter(collection, lambda row: row.isNotNull())
    element = column(value)
    if kind == "row":
        values = [element.getField(name) for name in visible]
    elif kind == "map":
        values = [element.getField("key"), element.getField("value")]
    else:
        values = [element]
    if ordinality:
        visible, types = [*visible, "ORDINALITY"], [*types, DataTypes.INT().not_null()]
        values.append(column(place) + 1)
    fields: list[str] = []
    for name in visible:
        fields.append(unused(name, [*relation.names, *fields]))
    if outer:
        types = [each.nullable() for each in types]
    elements = [each.alias(name) for each, name in zip(values, fields)]

    def unnested(rows: Relation) -> Relation:
        kept = [*rows.columns, *rows.changes]
        frame = rows.frame.select(*kept, explode(collection).alias(place, value))
        return replace(
            rows,
            frame=frame.select(*kept, *elements),
            fields=(*rows.fields, *zip(fields, types)),
            key=None,
            order=None,
        )

    result = made_again(unnested(relation), relation, unnested)
    return replace(
        left, relation=result, sources=(*left.sources, source_of(query, table, visible, fields))
    )


def _elements(data_type: DataType) -> tuple[list[str] | None, list[DataType], str]:
    if isinstance(data_type, ArrayType):
        element = data_type.element_type
        if isinstance(element, RowType):
            return [f.name for f in element.fields], [f.data_type for f in element.fields], "row"
        return ["EXPR$0"], [element], "array"
    if isinstance(data_type, MapType):
        return ["KEY", "VALUE"], [data_type.key_type, data_type.value_type], "map"
    if isinstance(data_type, MultisetType):
        return ["EXPR$0"], [data_type.element_type], "multiset"
    return None, [], ""
