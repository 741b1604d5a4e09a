"""OVER windows of the Table API: aggregates of the rows around each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import Window

from pyflow.table.changes.changelog import numbered, settled
from pyflow.table.changes.relation import SEQUENCE, Relation, column
from pyflow.table.columns.nodes import Alias, Bound, Field, Node, Over, RowInterval, transformed
from pyflow.table.functions.resolution import interval_ms
from pyflow.table.relations.projection import node_of, nodes_of, project, scope_of
from pyflow.table.relations.streams import over as stream_over
from pyflow.table.relations.windows import micros_of
from pyflow.table.runtime.streams.over import Frame
from pyflow.table.window import OverWindow
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import WindowSpec

    from pyflow.table.context import TableContext


def select_over(
    relation: Relation,
    windows: Sequence[OverWindow],
    selection: Sequence[Node],
    context: TableContext,
) -> Relation:
    """Return the selection in which aggregates are taken over windows around each row.

    In streaming mode the rows come when the watermark passes their time: in the order of time.
    """
    if len(windows) != 1:
        raise TableException("Currently, only a single over window is supported.")
    if relation.unbounded:
        return _select_streams(relation, windows[0], selection, context)
    rows = numbered(settled(relation))
    specs = {window.name: _spec(rows, window, context) for window in windows}
    order = _order_of(rows, windows[0], context)
    if context.is_streaming:
        rows = replace(rows, frame=rows.frame.orderBy(column(order), column(SEQUENCE)))
    plain = replace(rows, updating=False)
    result = project(plain, selection, context, specs)
    return replace(result, updating=False)


def _select_streams(
    relation: Relation,
    window: OverWindow,
    selection: Sequence[Node],
    context: TableContext,
) -> Relation:
    scope = scope_of(relation, context)
    expanded = scope.expand(selection)
    found: dict[str, Node] = {}

    def taken(node: Node) -> Node | None:
        if not isinstance(node, Over):
            return None
        if node.alias != window.name:
            raise TableException(
                f"{node}: there is no OVER window named {node.alias!r}; over_window() defines it"
            )
        return Field(stream_over.added(found, node.aggregate))

    nodes: list[Node] = [
        Alias(transformed(node, taken), (scope.name_of(node, place),))
        for place, node in enumerate(expanded)
    ]
    order = _order_of(relation, window, context)
    partitions = tuple(nodes_of(window.partition_by, context))
    described = stream_over.StreamWindow(partitions, order, _frame(window, context))
    return project(stream_over.over(relation, described, found, context), nodes, context)


def _frame(window: OverWindow, context: TableContext) -> Frame:
    """Return which rows belong to a row of an unbounded table."""
    before = None if window.preceding is None else node_of(window.preceding, context)
    after = None if window.following is None else node_of(window.following, context)
    by_rows = isinstance(before, RowInterval) or (isinstance(before, Bound) and before.is_row)
    kind = "ROWS" if by_rows else "RANGE"
    if after is not None and not (isinstance(after, Bound) and after.kind.startswith("CURRENT")):
        raise TableException(stream_over.FOLLOWING.format(kind))
    if after is not None and isinstance(after, Bound) and after.is_row != by_rows:
        raise TableException(
            "Preceding and following of an over window must both be rows or both be times."
        )
    if before is None or (isinstance(before, Bound) and before.kind.startswith("UNBOUNDED")):
        return Frame(by_rows, None)
    if isinstance(before, Bound):
        return Frame(by_rows, 0)
    return Frame(by_rows, before.rows if isinstance(before, RowInterval) else _range(before, 1))


def _order_of(relation: Relation, window: OverWindow, context: TableContext) -> str:
    node = node_of(window.order_by, context)
    if not isinstance(node, Field):
        raise TableException("Over window order by expects a time attribute, or a column in batch.")
    scope_of(relation, context).resolve(node)
    attribute = relation.time_attributes.get(node.name)
    if context.is_streaming and attribute is None:
        raise TableException(
            "Ordering must be defined on a time attribute: "
            f"{node.name!r} is none; declare a watermark for it in the schema of its table."
        )
    return node.name


def _spec(relation: Relation, window: OverWindow, context: TableContext) -> WindowSpec:
    """Return Spark's form of an OVER window."""
    scope = scope_of(relation, context)
    order = _order_of(relation, window, context)
    keys = [scope.resolve(node).column for node in nodes_of(window.partition_by, context)]
    spec = Window.partitionBy(*keys)
    before = None if window.preceding is None else node_of(window.preceding, context)
    after = None if window.following is None else node_of(window.following, context)
    if isinstance(before, RowInterval) or (isinstance(before, Bound) and before.is_row):
        ordered = spec.orderBy(column(order), column(SEQUENCE))
        return ordered.rowsBetween(_rows(before, -1), _rows(after, 1))
    if before is None or (
        isinstance(before, Bound) and (after is None or isinstance(after, Bound))
    ):
        start = Window.unboundedPreceding if before is None else _rows(before, -1)
        attribute = relation.time_attributes.get(order)
        if attribute is not None and attribute.kind == "proctime":
            # Each row has a time of its own, in the order in which they come.
            return spec.orderBy(column(SEQUENCE)).rowsBetween(start, _rows(after, 1))
        return spec.orderBy(column(order)).rangeBetween(start, _rows(after, 1))
    micros = micros_of(order, dict(relation.fields)[order])
    return spec.orderBy(micros).rangeBetween(_range(before, -1), _range(after, 1))


def _rows(node: Node | None, sign: int) -> int:
    if node is None:
        return Window.currentRow
    if isinstance(node, RowInterval):
        return sign * node.rows
    if isinstance(node, Bound):
        if node.kind.startswith("CURRENT"):
            return Window.currentRow
        return Window.unboundedPreceding if sign < 0 else Window.unboundedFollowing
    raise TableException(
        "Preceding and following of an over window must both be rows or both be times."
    )


def _range(node: Node | None, sign: int) -> int:
    if node is None or isinstance(node, Bound):
        return _rows(node, sign)
    return sign * interval_ms(node) * 1000
