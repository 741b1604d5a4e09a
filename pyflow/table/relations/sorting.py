"""Order, and the first rows in an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyflow.table.changes.relation import Order, Relation, SortKey
from pyflow.table.columns.nodes import Field, Node, Ordering
from pyflow.table.relations.projection import scope_of
from pyflow.table.relations.streams.ranks import first_rows
from pyflow.table.relations.streams.sorts import in_order
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column

    from pyflow.table.context import TableContext
    from pyflow.table.functions.resolution import Scope


def sort(
    relation: Relation,
    nodes: Sequence[Node],
    context: TableContext,
    nulls_first: Sequence[bool] | None = None,
) -> Relation:
    """Return the rows in an order: nulls come last, and first where it descends.

    In SQL it is the other way round: ``nulls_first`` says it for each of the nodes.
    """
    ordered = with_order(relation, nodes, context, nulls_first)
    assert ordered.order is not None
    if _changes(relation, ordered.order, context):
        return ordered
    scope = scope_of(relation, context)
    columns = [sort_column(key, scope) for key in ordered.order.keys]
    order = replace(ordered.order, keys=())
    return replace(relation, frame=relation.frame.orderBy(*columns), key=None, order=order)


def with_order(
    relation: Relation,
    nodes: Sequence[Node],
    context: TableContext,
    nulls_first: Sequence[bool] | None = None,
) -> Relation:
    """Return the relation with the order that it is to have when its rows are limited."""
    scope = scope_of(relation, context)
    expanded = scope.expand(nodes)
    keys = []
    for position, node in enumerate(expanded):
        ascending = not isinstance(node, Ordering) or node.ascending
        first = nulls_first[position] if nulls_first is not None else not ascending
        keys.append(SortKey(node.child if isinstance(node, Ordering) else node, ascending, first))
        scope.resolve(keys[-1].node)
    by_time = bool(expanded) and _by_time(expanded[0], relation)
    return replace(relation, order=Order(by_time=by_time, keys=tuple(keys)))


def _changes(relation: Relation, order: Order, context: TableContext) -> bool:
    """Return whether the first rows in an order change as the rows come."""
    if relation.unbounded:
        return True
    return context.is_streaming and (relation.updating or (order.sorted and not order.by_time))


def sort_column(key: SortKey, scope: Scope) -> Column:
    """Return what Spark orders rows by."""
    value = scope.resolve(key.node).column
    if key.ascending:
        return value.asc_nulls_first() if key.nulls_first else value.asc_nulls_last()
    return value.desc_nulls_first() if key.nulls_first else value.desc_nulls_last()


def _by_time(node: Node, relation: Relation) -> bool:
    if isinstance(node, Ordering):
        if not node.ascending:
            return False
        node = node.child
    return isinstance(node, Field) and node.name in relation.time_attributes


def offset(relation: Relation, rows: int, context: TableContext) -> Relation:
    """Return the rows without the first ones."""
    if rows < 0:
        raise TableException("Offset should be greater or equal 0")
    order = relation.order or Order(sorted=False)
    if order.offset is not None:
        raise TableException("OFFSET already defined")
    skipped = replace(order, offset=rows)
    if _changes(relation, order, context):
        return replace(relation, order=skipped)
    return replace(relation, frame=relation.frame.offset(rows), order=skipped)


def fetch(relation: Relation, rows: int, context: TableContext) -> Relation:
    """Return the first rows only."""
    if rows < 0:
        raise TableException("Fetch should be greater or equal 0")
    order = relation.order or Order(sorted=False)
    if _changes(relation, order, context):
        skipped = order.offset or 0
        places = (skipped + 1, skipped + rows)
        plain = replace(relation, order=None)
        return first_rows(plain, [], order.keys, places, None, context)
    return replace(relation, frame=relation.frame.limit(rows), order=None)


def checked(relation: Relation, context: TableContext, inside: bool = False) -> Relation:
    """Return the relation as one that any operation may read.

    Parameters
    ----------
    inside
        Whether it is a subquery, whose order means nothing.

    Raises
    ------
    TableException
        In streaming mode, for an order without a limit: its first row is known only at the end.
    """
    order = relation.order
    if order is None:
        return relation
    if context.is_streaming:
        if order.offset:
            raise TableException(
                "FETCH is missed, which on streaming table is not supported currently. "
                "Call fetch(), or limit(), after offset()."
            )
        if order.sorted and not order.by_time:
            raise TableException(
                "Sort on a non-time-attribute field is not supported in streaming mode. "
                "Call fetch() after order_by(), or use batch mode."
            )
    found = replace(relation, order=None)
    if relation.unbounded and order.sorted and not inside:
        return in_order(found, order.keys, context)
    return found
