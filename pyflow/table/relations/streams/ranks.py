"""The first rows in an order, as rows come: Top-N, deduplication, ORDER BY with FETCH, LIMIT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyflow.table.changes.changelog import numbered
from pyflow.table.changes.relation import KIND, SEQUENCE, Relation, SortKey, column
from pyflow.table.columns.nodes import Field, Node
from pyflow.table.relations.operators import changes_of, lifetime_of
from pyflow.table.relations.streams.ranked_rows import RankedRows
from pyflow.table.runtime.streams.ranks import FirstRows
from pyflow.types.data_types import DataTypes

if TYPE_CHECKING:
    from pyflow.table.context import TableContext

__all__ = ["first_rows"]


def first_rows(
    relation: Relation,
    partitions: Sequence[Node],
    order: Sequence[SortKey],
    places: tuple[int, int],
    rank: str | None,
    context: TableContext,
) -> Relation:
    """Return the changes of the rows with some row numbers, in the order of each key.

    Parameters
    ----------
    partitions
        What rows of a key have in common; without any all rows are in one order.
    order
        What they are ordered by; rows that are equal in it keep their order of arrival. A
        processing time is that order itself.
    places
        The first and the last row number, from 1.
    rank
        The name of a column for the row number; None for no such column.
    """
    sorts, latest = _without_processing_time(relation, order)
    rows = RankedRows.of(numbered(relation), partitions, sorts, {}, context)
    emitted = rows.emitted(rank)
    # The first rows to come stay, whatever follows; their times remain time attributes.
    only_new = not (relation.updating or sorts or latest)
    lifetime = lifetime_of(relation.frame, context)
    if only_new and relation.time_attributes:
        lifetime = lifetime._replace(sweeps=False)
    processor = FirstRows(
        rows.order,
        *places,
        rows.bounds,
        rows.width,
        rank is not None,
        places == (1, 1) and not relation.updating,
        [*emitted.names, KIND, SEQUENCE],
        relation.updating,
        latest,
        lifetime,
    )
    changes = changes_of(rows.frame, rows.by.names, processor, emitted.schema, context)
    names = [*relation.names, *([] if rank is None else [rank])]
    decoded = changes.select(
        *emitted.decoded(names), *([] if only_new else [column(KIND), column(SEQUENCE)])
    )
    ranked = [] if rank is None else [(rank, DataTypes.BIGINT().not_null())]
    return Relation(
        decoded,
        (*relation.fields, *ranked),
        key=_key(partitions, places, rank),
        updating=not only_new,
        time_attributes=relation.time_attributes if only_new else {},
    )


def _without_processing_time(
    relation: Relation, order: Sequence[SortKey]
) -> tuple[list[SortKey], bool]:
    """Return by what rows are ordered before their arrival, and whether the latest come first."""
    for place, each in enumerate(order):
        name = each.node.name if isinstance(each.node, Field) else ""
        attribute = relation.time_attributes.get(name)
        if attribute is not None and attribute.kind == "proctime":
            return list(order[:place]), not each.ascending
    return list(order), False


def _key(
    partitions: Sequence[Node], places: tuple[int, int], rank: str | None
) -> tuple[str, ...] | None:
    names = tuple(node.name for node in partitions if isinstance(node, Field))
    if len(names) < len(partitions):
        return None
    if rank is not None:
        return (*names, rank)
    return names if places[0] == places[1] and names else None
