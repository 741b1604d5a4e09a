"""Unbounded tables in the order of a time attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyflow.table.changes.changelog import numbered
from pyflow.table.changes.relation import Relation, SortKey, column, with_times
from pyflow.table.columns.nodes import Field
from pyflow.table.relations.operators import applied, timely
from pyflow.table.relations.streams.ranked_rows import RankedRows
from pyflow.table.relations.windows import micros_of
from pyflow.table.runtime.streams.sorts import SortedBatches, SortedRows
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.context import TableContext

__all__ = ["in_order"]

_MOMENT = "moment"


def in_order(relation: Relation, keys: Sequence[SortKey], context: TableContext) -> Relation:
    """Return the rows in an order, as one partition.

    Parameters
    ----------
    keys
        The first of them a time attribute, ascending. Rows of an event time come when the watermark
        has passed them, those of a processing time with their batch.
    """
    if relation.updating:
        raise TableException(
            "Sort doesn't support consuming update and delete changes: an order by time takes a "
            "table to which rows are only added"
        )
    time, *others = keys
    assert isinstance(time.node, Field)
    name = time.node.name
    in_event_time = relation.time_attributes[name].kind == "rowtime"
    more = {_MOMENT: micros_of(name, dict(relation.fields)[name])} if in_event_time else {}
    timed = replace(relation, frame=relation.frame.filter(column(name).isNotNull()))
    rows = RankedRows.of(numbered(timed), [], others, more, context)
    names, schema = rows.own.names, rows.own.schema
    if in_event_time:
        timely_rows = timely(rows.frame, _MOMENT)
        by_time = SortedRows(rows.order, rows.bounds, rows.width, names)
        made = applied(timely_rows, rows.by.names, by_time, schema, "EventTime", context)
    else:
        by_batch = SortedBatches(rows.order, rows.bounds, names)
        made = applied(rows.frame, rows.by.names, by_batch, schema, "None", context)
    times = relation.time_attributes
    return Relation(
        with_times(made.select(*rows.own.decoded(relation.names)), times),
        relation.fields,
        time_attributes=times,
        window=relation.window,
    )
