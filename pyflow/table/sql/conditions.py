"""Queries in conditions: IN and EXISTS become joins that keep rows of the left side only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from sqlglot import exp

from pyflow.table.planner import projection, stream_sides, stream_windows
from pyflow.table.planner.changelog import inserted_once, settled
from pyflow.table.planner.nodes import Field, Literal, Node
from pyflow.table.planner.operators import NotIncremental
from pyflow.table.planner.relation import Relation
from pyflow.table.sql.names import Rows, of_relation
from pyflow.table.sql.over_windows import has_aggregate
from pyflow.table.sql.scalar import NameNotFound, Translator
from pyflow.table.types import DataTypes

if TYPE_CHECKING:
    from pyflow.table.sql.queries import _Query


def subquery_conditions(
    condition: exp.Expr,
) -> tuple[list[exp.Expr], list[tuple[exp.Expr, bool]]]:
    """Take the conditions with queries out of a condition.

    Returns
    -------
    tuple
        Conditions without queries, and IN and EXISTS with whether they are negated.
    """
    if isinstance(condition, exp.Paren):
        return subquery_conditions(condition.this)
    if isinstance(condition, exp.And):
        plain, queries = subquery_conditions(condition.this)
        more_plain, more_queries = subquery_conditions(condition.expression)
        return plain + more_plain, queries + more_queries
    inner, negated = condition, False
    while isinstance(inner, (exp.Not, exp.Paren)):
        negated ^= isinstance(inner, exp.Not)
        inner = inner.this
    if isinstance(inner, exp.Exists) or (
        isinstance(inner, exp.In) and inner.args.get("query") is not None
    ):
        return [], [(inner, negated)]
    return [condition], []


def semi_join(query: _Query, rows: Rows, condition: exp.Expr, anti: bool) -> Rows:
    """Return the rows for which IN or EXISTS is true, or false for ``anti``.

    Nulls count as in SQL: NOT IN is true only if the value differs from all others for certain.
    """
    nested = condition.args["query"].this if isinstance(condition, exp.In) else condition.this
    if isinstance(condition, exp.Exists) and _is_one_group(query, nested):
        if not anti:
            return rows
        nothing = Literal(False, DataTypes.BOOLEAN().not_null())
        return replace(
            rows, relation=projection.filter_rows(rows.relation, nothing, query.environment)
        )
    values = []
    if isinstance(condition, exp.In):
        value = condition.this
        values = list(value.expressions) if isinstance(value, exp.Tuple) else [value]
    inner, inner_values, where = _inner(query, rows, nested, bool(values))
    if values and len(values) != len(inner_values):
        query.refuse(
            condition, f"IN with {len(values)} values and a query of {len(inner_values)} columns"
        )
    translator = query.translator(rows)
    with translator.at(condition):
        pairs = [
            translator._call("equals", translator.node(value), other)
            for value, other in zip(values, inner_values)
        ]
        try:
            if _follows(query, rows.relation, inner):
                relation = _changes_of_semi_join(query, rows.relation, inner, pairs, where, anti)
                return replace(rows, relation=relation)
        except NotIncremental:
            if rows.relation.unbounded or inner.unbounded:
                raise
    left, right = settled(rows.relation), settled(inner)
    both = Relation(left.rows().crossJoin(right.rows()), (*left.fields, *right.fields))
    scope = projection.scope_of(both, query.environment)
    found = F.lit(True)
    with translator.at(condition):
        for equal in pairs:
            column = scope.resolve(equal).column
            # A row that may be equal is in the way of NOT IN.
            found = found & (F.coalesce(column, F.lit(True)) if anti else column)
        for node in where:
            found = found & F.coalesce(scope.resolve(node).column, F.lit(False))
    frame = left.rows().join(right.rows(), found, "left_anti" if anti else "left_semi")
    relation = replace(left, frame=frame)
    updating = rows.relation.updating or inner.updating
    in_windows = stream_windows.are_joined(rows.relation, inner, [*pairs, *where])
    if query.environment._is_streaming and (updating or (anti and not in_windows)):
        relation = inserted_once(relation)
    return replace(rows, relation=relation)


def _follows(query: _Query, left: Relation, right: Relation) -> bool:
    """Return whether the result follows its input as that comes and changes."""
    if left.unbounded or right.unbounded:
        return True
    return query.environment._is_streaming and (left.updating or right.updating)


def _is_one_group(query: _Query, nested: exp.Expr) -> bool:
    """Whether a query gives one row in any case: aggregates of all rows."""
    return (
        isinstance(nested, exp.Select)
        and not any(nested.args.get(key) for key in ("group", "having", "limit", "offset"))
        and _has_aggregates(query, nested)
    )


def _has_aggregates(query: _Query, nested: exp.Select) -> bool:
    return any(has_aggregate(query.environment, item) for item in nested.expressions)


def _changes_of_semi_join(
    query: _Query,
    left: Relation,
    right: Relation,
    pairs: list[Node],
    where: list[Node],
    anti: bool,
) -> Relation:
    """Return the semi or anti join as its input comes.

    Raises
    ------
    NotIncremental
        For NOT IN of values that may be null: one null on the right leaves no row.
    """
    both = Relation(left.frame, (*left.fields, *right.fields))
    scope = projection.scope_of(both, query.environment)
    if anti and any(scope.resolve(node).data_type._nullable for node in pairs):
        raise NotIncremental(
            "NOT IN of values that may be null is not carried for unbounded tables: use NOT "
            "EXISTS, for which null equals nothing"
        )
    conditions = [*pairs, *where]
    return stream_sides.join(left, right, conditions, "anti" if anti else "semi", query.environment)


def _inner(
    query: _Query, outer: Rows, nested: exp.Expr, values: bool
) -> tuple[Relation, list[Node], list[Node]]:
    """Return the rows of the query, its columns, and the conditions that tie it to the outer."""
    try:
        rows = of_relation(query.nested(nested)).apart_from(outer.relation.names)
        return rows.relation, [Field(name) for name in rows.relation.names], []
    except NameNotFound:
        if not isinstance(nested, exp.Select):
            raise
    clauses = ("group", "having", "windows", "limit", "offset", "with_")
    if any(nested.args.get(key) for key in clauses) or _has_aggregates(query, nested):
        query.refuse(
            nested,
            "a query that names columns of the query around it is carried with FROM and WHERE "
            "only, without aggregates",
        )
    from_, where = nested.args.get("from_"), nested.args.get("where")
    if from_ is None or where is None:
        return _again(query, nested)
    rows = query.from_(from_.this).apart_from(outer.relation.names)
    conditions: list[exp.Expr] = []
    plain, queries = subquery_conditions(where.this)
    for part in plain:
        inside = Translator(query.environment, query.text, rows, outer)
        inside.node(part)
        if inside.correlated:
            conditions.append(part)
        else:
            rows = query.where(rows, part)
    for part, anti in queries:
        rows = semi_join(query, rows, part, anti)
    inside = Translator(query.environment, query.text, rows, outer)
    columns = [_column(item) for item in nested.expressions] if values else []
    return (
        rows.relation,
        [inside.node(item) for item in columns],
        [inside.node(part) for part in conditions],
    )


def _again(query: _Query, nested: exp.Expr) -> tuple[Relation, list[Node], list[Node]]:
    relation = query.nested(nested)
    return relation, [Field(name) for name in relation.names], []


def _column(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias) else item
