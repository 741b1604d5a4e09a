"""Subqueries: values, IN, EXISTS, ANY and ALL in expressions, and LATERAL.

A subquery becomes a relation and conditions by which this is joined to the rows of the outer query.
A subquery that is not correlated has no conditions. A subquery with FROM and WHERE only, of which
only matters whether it has rows, has those conditions of its WHERE that refer to columns of the
outer query. All others are computed for a domain (``relations/correlation.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from pyflow.table.changes.changelog import settled
from pyflow.table.changes.relation import Relation, unused
from pyflow.table.columns.nodes import Call, Field, Literal, Node, field_names
from pyflow.table.functions.builtins import built_in
from pyflow.table.relations import correlation, joins
from pyflow.table.relations.correlation import Domain
from pyflow.table.relations.predicates import all_of
from pyflow.table.sql import builtin_functions, tree
from pyflow.table.sql.expressions import NameNotFound
from pyflow.table.sql.names import Around, OuterColumn, Rows, of_relation
from pyflow.table.sql.over_windows import has_aggregate
from pyflow.table.sql.query_base import Outer
from pyflow.table.sql.table_functions import source_of
from pyflow.types.data_types import DataTypes

if TYPE_CHECKING:
    from pyflow.table.sql.query_base import Query

__all__ = [
    "Nested",
    "Outer",
    "compared",
    "has_query",
    "is_all",
    "is_one_group",
    "lateral",
    "nested_queries",
    "nested_rows",
    "query_of",
    "values_of",
    "with_queries",
]


@dataclass(frozen=True)
class Nested:
    """The rows of a subquery.

    Parameters
    ----------
    relation
        The rows; no column has the name of one of the outer query.
    names, columns
        The names of the subquery's columns, and the columns.
    ties
        Join conditions on these rows and those of the outer query.
    keys
        The columns of the domain that the subquery was computed for.
    """

    relation: Relation
    names: list[str]
    columns: list[Node]
    ties: list[Node]
    keys: list[str]


def nested_rows(query: Query, around: Rows, nested: exp.Expr, exists: bool = False) -> Nested:
    """Return the rows of a subquery for those of the outer query.

    Parameters
    ----------
    exists
        Whether only matters if there are rows, not how many or in which order.
    """
    plain = replace(query, outer=None)
    with suppress(NameNotFound):
        return _tied(around, plain.nested(nested), {})
    if exists and isinstance(nested, exp.Select) and _has_conditions_only(query, nested):
        with suppress(NameNotFound):
            return _pulled_up(plain, around, nested)
    return _for_each(query, around, nested)


def _for_each(query: Query, around: Rows, nested: exp.Expr) -> Nested:
    """Return the rows of a subquery for each combination of values of the outer query."""
    names: list[str] = []
    domain = Domain(query.one_row(), {})
    while True:
        try:
            relation = replace(query, outer=Outer(around, domain)).nested(nested)
        except OuterColumn as found:
            if found.around is not around:
                raise
            names.append(found.column)
            with query.translator(around).at(nested):
                domain = correlation.domain_of(around.relation, names)
        else:
            return _tied(around, settled(relation), domain.columns)


def _tied(around: Rows, relation: Relation, columns: Mapping[str, str]) -> Nested:
    apart = of_relation(relation).apart_from(around.relation.names).relation
    new = dict(zip(relation.names, apart.names))
    keys = [new[name] for name in columns.values()]
    ties = [_same(Field(outer), Field(key)) for outer, key in zip(columns, keys)]
    found = {name: Field(new[name]) for name in relation.names if new[name] not in keys}
    return Nested(apart, [*found], [*found.values()], ties, keys)


def _same(one: Node, other: Node) -> Node:
    return Call(built_in("not"), (Call(builtin_functions.IS_DISTINCT_FROM, (one, other)),))


def _has_conditions_only(query: Query, nested: exp.Select) -> bool:
    """Return whether a query has only FROM, WHERE and what does not matter for EXISTS."""
    clauses = ("group", "having", "windows", "limit", "offset", "with_")
    return (
        all(nested.args.get(key) is not None for key in ("from_", "where"))
        and not any(nested.args.get(key) for key in clauses)
        and not any(
            has_aggregate(query.context, item) or has_query(item) or item.find(exp.Window)
            for item in nested.expressions
        )
    )


def _pulled_up(query: Query, around: Rows, nested: exp.Select) -> Nested:
    """Return rows that are tied by the conditions of a query's WHERE.

    Raises
    ------
    NameNotFound
        If a subquery in WHERE refers to columns of the outer query of this one.
    """
    outer = Around(around, {name: name for name in around.relation.names})
    rows = query.from_(nested.args["from_"].this).apart_from(around.relation.names)
    tied: list[exp.Expr] = []
    for part in tree.conjuncts(nested.args["where"].this):
        if not has_query(part):
            node = query.translator(replace(rows, around=outer)).node(part)
            if not outer.columns.keys().isdisjoint(field_names(node)):
                tied.append(part)
                continue
        rows = query.where(rows, part)
    rows = rows.apart_from(around.relation.names)
    translator = query.translator(replace(rows, around=outer))
    names: list[str] = []
    columns: list[Node] = []
    for item in nested.expressions:
        starred = query.starred(rows, item)
        if starred is None:
            starred = [("", translator.node(item.this if isinstance(item, exp.Alias) else item))]
        names += [name for name, _ in starred]
        columns += [node for _, node in starred]
    return Nested(rows.relation, names, columns, [translator.node(part) for part in tied], [])


def is_one_group(query: Query, nested: exp.Expr) -> bool:
    """Return whether a query always gives one row: aggregates of all rows."""
    return (
        isinstance(nested, exp.Select)
        and not any(nested.args.get(key) for key in ("group", "having", "limit", "offset"))
        and any(has_aggregate(query.context, item) for item in nested.expressions)
    )


# Queries in expressions


def query_of(written: exp.Expr) -> exp.Expr:
    """Return the query of IN, EXISTS, ANY or ALL."""
    found: exp.Expr = (
        written.this if isinstance(written, exp.Exists) else written.args["query"].this
    )
    return found


def nested_queries(expression: exp.Expr) -> list[exp.Expr]:
    """Return the values, IN, EXISTS, ANY and ALL with queries in an expression, inner ones first.

    Those of the queries themselves are not among them.
    """
    if isinstance(expression, (exp.Subquery, exp.Exists)):
        return [expression]
    query = expression.args.get("query")
    parts = [part for part in expression.iter_expressions() if part is not query]
    found = [each for part in parts for each in nested_queries(part)]
    return found if query is None else [*found, expression]


def values_of(written: exp.Expr) -> list[exp.Expr]:
    """Return what IN, ANY or ALL compares with its query; nothing of others."""
    if written.args.get("query") is None:
        return []
    value = written.this
    return list(value.expressions) if isinstance(value, exp.Tuple) else [value]


def has_query(expression: exp.Expr) -> bool:
    """Return whether there are queries in an expression."""
    return bool(nested_queries(expression))


def compared(
    query: Query, condition: exp.Expr, inner: Nested, node_of: Callable[[exp.Expr], Node]
) -> list[Node]:
    """Return the comparisons of IN, ANY and ALL with a row of their query, none of EXISTS.

    Those of ALL are the contrary of what must be true: it is false where one of them is true.
    """
    values = values_of(condition)
    if not values:
        return []
    if len(values) != len(inner.columns):
        word = "IN" if isinstance(condition, exp.In) else condition.args["word"].name
        query.refuse(
            condition,
            f"{word} with {len(values)} values and a query of {len(inner.columns)} columns",
        )
    operator = "equals"
    if isinstance(condition, tree.Quantified):
        operator = builtin_functions.OPERATORS[getattr(exp, condition.args["operator"].name)]
    if is_all(condition):
        operator = _CONTRARY[operator]
    if len(values) > 1 and operator != "equals":
        query.refuse(condition, "rows are compared with those of a query by = ANY and <> ALL only")
    function = builtin_functions.STRICT.get(operator) or built_in(operator)
    return [Call(function, (node_of(one), other)) for one, other in zip(values, inner.columns)]


_CONTRARY = {
    "equals": "notEquals",
    "notEquals": "equals",
    "lessThan": "greaterThanOrEqual",
    "lessThanOrEqual": "greaterThan",
    "greaterThan": "lessThanOrEqual",
    "greaterThanOrEqual": "lessThan",
}


def is_all(condition: exp.Expr) -> bool:
    """Return whether a condition is a comparison with all rows of a query."""
    return isinstance(condition, tree.Quantified) and condition.args["word"].name == "ALL"


def with_queries(
    query: Query,
    rows: Rows,
    queries: Sequence[exp.Expr],
    node_of: Callable[[exp.Expr], Node] | None = None,
) -> tuple[Rows, dict[int, Node]]:
    """Return rows with the values of queries, and these by the identities of their trees.

    Parameters
    ----------
    queries
        As :func:`nested_queries` gives them.
    node_of
        Translates what is compared with a query; where it is not given, over these rows.
    """
    known: dict[int, Node] = {}
    for written in queries:
        translator = query.translator(rows)
        translator.subqueries = known
        rows, node = _with_query(query, rows, written, node_of or translator.node)
        known[id(written)] = node
    return rows, known


def _with_query(
    query: Query, rows: Rows, written: exp.Expr, node_of: Callable[[exp.Expr], Node]
) -> tuple[Rows, Node]:
    """Return rows with the value of a query, or of IN, EXISTS, ANY and ALL, and that value."""
    if isinstance(written, exp.Subquery):
        return _with_value(query, rows, written)
    nested = query_of(written)
    inner = nested_rows(query, rows, nested, exists=True)
    if isinstance(written, exp.Exists) and is_one_group(query, nested):
        return rows, Literal(True, DataTypes.BOOLEAN().not_null())
    comparisons = compared(query, written, inner, node_of)
    name = unused("$mark", [*rows.relation.names, *inner.relation.names])
    with query.translator(rows).at(written):
        relation = correlation.with_mark(
            rows.relation, inner.relation, inner.ties, comparisons, name, query.context
        )
    mark: Node = Field(name)
    if is_all(written):
        mark = Call(built_in("not"), (mark,))
    return replace(rows, relation=relation), mark


def _with_value(query: Query, rows: Rows, nested: exp.Subquery) -> tuple[Rows, Node]:
    inner = nested_rows(query, rows, nested)
    if len(inner.columns) != 1:
        query.refuse(nested, f"a query as a value has one column, this one {len(inner.columns)}")
    with query.translator(rows).at(nested):
        inner.relation.refuse_unbounded("a query as a value")
    if rows.relation.unbounded and inner.relation.updating:
        query.refuse(nested, "a query as a value that changes is not supported over unbounded rows")
    name = unused("$value", [*rows.relation.names, *inner.relation.names])
    relation = correlation.with_value(
        rows.relation, inner.relation, inner.ties, inner.keys, name, query.context
    )
    return replace(rows, relation=relation), Field(name)


# FROM


def lateral(
    query: Query,
    left: Rows,
    table: exp.Expr,
    nested: exp.Expr,
    kind: joins.JoinType,
    on: exp.Expr | None = None,
    around: Rows | None = None,
) -> Rows:
    """Return each row with the rows of a query for it.

    Parameters
    ----------
    table, nested
        The table reference, which may have an alias, and its query.
    kind
        ``inner``, or ``left`` for rows without such rows, too.
    on
        What must be true of both.
    around
        Whose columns the query may name, where these are not those of all tables of the left.
    """
    inner = nested_rows(query, left if around is None else around, nested)
    fields = [node.name for node in inner.columns if isinstance(node, Field)]
    source = source_of(query, table, inner.names, fields)
    both = replace(left, sources=(*left.sources, source))
    conditions = list(inner.ties)
    if on is not None:
        joined = Relation(left.relation.frame, (*left.relation.fields, *inner.relation.fields))
        conditions.append(query.translator(replace(both, relation=joined)).node(on))
    with query.translator(left).at(table):
        relation = joins.join(
            left.relation,
            inner.relation,
            all_of(conditions),
            kind,
            query.context,
            every_condition=True,
        )
    return replace(both, relation=relation)
