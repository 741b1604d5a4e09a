"""Windows by the processing time of unbounded tables.

A batch is of one time, and the windows of its rows are those of that time. They end by timers of a
clock, in a batch that may have no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pyflow.table.planner.changelog import numbered
from pyflow.table.planner.clocks import CLOSING
from pyflow.table.planner.nodes import Node
from pyflow.table.planner.operators import Columns, applied, may_have_timers
from pyflow.table.planner.projection import scope_of
from pyflow.table.planner.relation import Relation, column
from pyflow.table.planner.stream_groups import planned_in_window
from pyflow.table.runtime.streams.window_groups import WindowGroups
from pyflow.table.types import DataTypes
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column

    from pyflow.table.table_environment import TableEnvironment

__all__ = ["aggregate"]

_ENDS = "$ends"


def aggregate(
    relation: Relation,
    keys: Sequence[str],
    aggregates: dict[str, Node],
    end: Column,
    environment: TableEnvironment,
) -> Relation:
    """Return keys and aggregates of each window, when it has ended.

    Parameters
    ----------
    keys
        The bounds of windows among them.
    end
        The instant at which a row's window ends.
    """
    if not may_have_timers(relation.frame, environment):
        raise TableException(
            "windows by processing time are not carried behind windows or joins by event time, nor "
            "over Spark Connect: Spark has no timers of both in a row. Group by an event time."
        )
    instant = (_ENDS, DataTypes.TIMESTAMP_LTZ(3))
    frame = relation.frame.withColumn(_ENDS, end)
    rows = numbered(replace(relation, frame=frame, fields=(*relation.fields, instant)))
    scope = scope_of(rows, environment)
    found = [planned_in_window(node, scope) for node in aggregates.values()]
    types = dict(relation.fields)
    by = Columns(CLOSING, tuple(types[key] for key in keys))
    taken = [pair for each in found for pair in each.arguments]
    arguments = Columns("a", tuple(data_type for _, data_type in taken))
    values = Columns("v", tuple(each.result for each in found))
    frame = rows.frame.select(
        *by.carried([column(key) for key in keys]),
        *arguments.carried([value for value, _ in taken]),
        F.unix_micros(column(_ENDS)).alias(_ENDS),
        *rows.changes,
    )
    places, place = [], len(by.names)
    for each in found:
        places.append(each.places(place))
        place += len(each.arguments)
    functions = [(each.function, argument) for each, argument in zip(found, places)]
    processor = WindowGroups(functions, place, [*by.names, *values.names])
    emitted = [*by.schema, *values.schema]
    closed = applied(frame, by.names, processor, emitted, "ProcessingTime", environment)
    results = [(name, each.result) for name, each in zip(aggregates, found)]
    restored = closed.select(*by.restored(keys), *values.restored([name for name, _ in results]))
    return Relation(restored, (*((key, types[key]) for key in keys), *results))
