"""Queries in conditions of WHERE: IN, EXISTS, ANY and ALL become joins that keep left rows only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from sqlglot import exp

from pyflow.table.changes.changelog import inserted_once, settled
from pyflow.table.changes.relation import Relation
from pyflow.table.columns.nodes import Literal, Node
from pyflow.table.relations import projection
from pyflow.table.relations.operators import NotIncremental
from pyflow.table.relations.streams import joins as stream_sides
from pyflow.table.relations.streams import windows as stream_windows
from pyflow.table.sql import subqueries, tree
from pyflow.table.sql.names import Rows
from pyflow.types.data_types import DataTypes

if TYPE_CHECKING:
    from pyflow.table.sql.query_base import Query


def subquery_conditions(
    condition: exp.Expr,
) -> tuple[list[exp.Expr], list[tuple[exp.Expr, bool]]]:
    """Take the conditions that are IN, EXISTS, ANY and ALL with queries out of a condition.

    Returns
    -------
    tuple
        The other conditions, and these with whether they are negated.
    """
    plain: list[exp.Expr] = []
    queries: list[tuple[exp.Expr, bool]] = []
    for part in tree.conjuncts(condition):
        inner, negated = part, False
        while isinstance(inner, (exp.Not, exp.Paren)):
            negated ^= isinstance(inner, exp.Not)
            inner = inner.this
        if isinstance(inner, exp.Exists) or inner.args.get("query") is not None:
            queries.append((inner, negated))
        else:
            plain.append(part)
    return plain, queries


def semi_join(query: Query, rows: Rows, condition: exp.Expr, negated: bool) -> Rows:
    """Return the rows for which a condition with a query is true, or false where it is negated.

    Nulls count as in SQL: NOT IN is true only if the value differs from all others for certain.
    """
    others = [each for each in subqueries.nested_queries(condition) if each is not condition]
    rows, known = subqueries.with_queries(query, rows, others)
    translator = query.translator(rows)
    translator.subqueries = known
    written = subqueries.query_of(condition)
    inner = subqueries.nested_rows(query, rows, written, exists=True)
    if isinstance(condition, exp.Exists) and subqueries.is_one_group(query, written):
        if not negated:
            return rows
        nothing = Literal(False, DataTypes.BOOLEAN().not_null())
        return replace(rows, relation=projection.filter_rows(rows.relation, nothing, query.context))
    anti = negated ^ subqueries.is_all(condition)
    with translator.at(condition):
        pairs = subqueries.compared(query, condition, inner, translator.node)
        try:
            if _follows(query, rows.relation, inner.relation):
                relation = _changes_of_semi_join(query, rows.relation, inner, pairs, anti)
                return replace(rows, relation=relation)
        except NotIncremental:
            if rows.relation.unbounded or inner.relation.unbounded:
                raise
        return replace(rows, relation=_settled_semi_join(query, rows.relation, inner, pairs, anti))


def _settled_semi_join(
    query: Query, left: Relation, inner: subqueries.Nested, pairs: list[Node], anti: bool
) -> Relation:
    """Return the semi or anti join of all rows that are left."""
    one, other = settled(left), settled(inner.relation)
    both = Relation(one.rows().crossJoin(other.rows()), (*one.fields, *other.fields))
    scope = projection.scope_of(both, query.context)
    found = F.lit(True)
    for equal in pairs:
        column = scope.resolve(equal).column
        # A row that may be equal is in the way of NOT IN.
        found = found & (column | column.isNull() if anti else column)
    for node in inner.ties:
        found = found & scope.resolve(node).column
    frame = one.rows().join(other.rows(), found, "left_anti" if anti else "left_semi")
    relation = replace(one, frame=frame)
    updating = left.updating or inner.relation.updating
    in_windows = stream_windows.are_joined(left, inner.relation, [*pairs, *inner.ties])
    if query.context.is_streaming and (updating or (anti and not in_windows)):
        return inserted_once(relation)
    return relation


def _follows(query: Query, left: Relation, right: Relation) -> bool:
    """Return whether the result follows its input as that comes and changes."""
    if left.unbounded or right.unbounded:
        return True
    return query.context.is_streaming and (left.updating or right.updating)


def _changes_of_semi_join(
    query: Query, left: Relation, inner: subqueries.Nested, pairs: list[Node], anti: bool
) -> Relation:
    """Return the semi or anti join as its input comes.

    Raises
    ------
    NotIncremental
        For NOT IN of values that may be null: one null on the right leaves no row.
    """
    right = inner.relation
    both = Relation(left.frame, (*left.fields, *right.fields))
    scope = projection.scope_of(both, query.context)
    if anti and any(scope.resolve(node).data_type._nullable for node in pairs):
        raise NotIncremental(
            "NOT IN of values that may be null is not supported for unbounded tables: use NOT "
            "EXISTS, for which null equals nothing"
        )
    conditions = [*pairs, *inner.ties]
    return stream_sides.join(left, right, conditions, "anti" if anti else "semi", query.context)
