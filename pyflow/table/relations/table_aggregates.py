"""Functions that return many rows per group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pyflow.table.changes.changelog import inserted_once, settled
from pyflow.table.changes.relation import Relation, check_unique, column
from pyflow.table.columns.nodes import Alias, FunctionCall, Node
from pyflow.table.relations.grouping import flattened, with_keys
from pyflow.table.relations.projection import scope_of
from pyflow.table.relations.streams import groups as stream_groups
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.context import TableContext

_ROWS = "$rows"


def flat_aggregate(
    relation: Relation, groupings: Sequence[Node], call: Node, context: TableContext
) -> Relation:
    """Return keys and the rows that a table aggregate function emits for each group."""
    names = call.names if isinstance(call, Alias) else ()
    inner = call.child if isinstance(call, Alias) else call
    if not isinstance(inner, FunctionCall):
        raise TableException(
            "A flatAggregate only accepts an expression which defines a table aggregate function "
            f"that might be followed by some alias, got: {call}"
        )
    function = context.function_of(inner, "table_aggregate")
    if relation.unbounded:
        keyed, keys = with_keys(relation, groupings, context)
        result = stream_groups.flat_aggregate(keyed, keys, inner, context)
        if names:
            result = _renamed(result, len(keys), names)
        check_unique(result.names)
        return result
    prepared, keys = with_keys(settled(relation), groupings, context)
    scope = scope_of(prepared, context)
    resolved = [scope.resolve(node) for node in scope.expand(inner.arguments)]
    emitted = function.emit(
        [value.column for value in resolved],
        [value.data_type for value in resolved],
        context.function_settings(),
    )
    groups = prepared.frame.groupBy(*map(column, keys)).agg(emitted.alias(_ROWS))
    rows = groups.select(*map(column, keys), F.explode(column(_ROWS)).alias(_ROWS))
    types = dict(prepared.fields)
    fields = (*((key, types[key]) for key in keys), (_ROWS, function.result_type))
    result = flattened(Relation(rows, fields), _ROWS, names)
    check_unique(result.names)
    return inserted_once(result) if context.is_streaming else result


def _renamed(relation: Relation, keys: int, names: Sequence[str]) -> Relation:
    """Return the relation with other names for the columns behind the keys."""
    if len(names) != len(relation.names) - keys:
        raise TableException(
            "List of column aliases must have same degree as table; the function returns "
            f"{len(relation.names) - keys} columns, whereas alias list has {len(names)} columns"
        )
    return relation.renamed([*relation.names[:keys], *names])
