"""Correlated subqueries, computed for all rows of the outer query at once.

A correlated subquery refers to columns of the outer query. It has a result for each combination of
their values. These combinations, each once, are its domain. Its rows are the cross join of its FROM
with the domain, whose columns stay with the rows through all operations: they are among the keys of
groups and of DISTINCT and among the partitions of OVER, and LIMIT counts the rows of each
combination. So the results for all combinations are one relation, which is joined by these columns
to the rows of the outer query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from pyflow.table.changes.changelog import inserted_once, settled
from pyflow.table.changes.relation import Relation, column, unused
from pyflow.table.columns.nodes import Node
from pyflow.table.relations import grouping, joins
from pyflow.table.relations.projection import scope_of
from pyflow.table.relations.sorting import sort_column
from pyflow.types.data_types import DataTypes
from pyflow.types.logical_types import DataType, MapType, MultisetType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.table.context import TableContext

# A subquery with FROM and WHERE only, in a condition of WHERE, is a join.
_CORRELATED = "a correlated subquery of this kind"

_NUMBERS = count()

_PLACE = "$place"
_FOUND = "$found"


@dataclass(frozen=True)
class Domain:
    """The values of columns of the outer query for which a subquery is computed.

    Parameters
    ----------
    relation
        One row for each combination of them.
    columns
        The columns of the outer query, and their names in the relation.
    """

    relation: Relation
    columns: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        """Return the names of its columns."""
        return self.relation.names


def domain_of(around: Relation, names: Sequence[str]) -> Domain:
    """Return the values of some columns of the outer query.

    Raises
    ------
    TableException
        Over unbounded tables, and for values that Spark cannot compare.
    """
    around.refuse_unbounded(_CORRELATED)
    types = dict(around.fields)
    columns: dict[str, str] = {}
    for name in names:
        if isinstance(types[name], (MapType, MultisetType)):
            raise TableException(
                f"a correlated subquery that refers to the column {name}, of type "
                f"{types[name].sql}, of the outer query is not supported"
            )
        columns[name] = unused(f"$around {name}", [*around.names, *columns.values()])
    values = (column(name).alias(own) for name, own in columns.items())
    frame = settled(around).frame.select(*values).distinct()
    fields = tuple((own, types[name]) for name, own in columns.items())
    return Domain(Relation(frame, fields, key=tuple(columns.values())), columns)


def beside(relation: Relation, domain: Relation, context: TableContext) -> Relation:
    """Return all rows of a relation for each row of a domain."""
    found = bounded(relation) if domain.names else relation
    return joins.join(found, domain, None, "inner", context, every_condition=True)


def bounded(relation: Relation) -> Relation:
    """Return the rows that are left of those that a query is computed from."""
    relation.refuse_unbounded(_CORRELATED)
    return settled(relation)


def aggregate(
    relation: Relation,
    groupings: Sequence[Node],
    aggregates: dict[str, Node],
    context: TableContext,
    domain: Relation | None,
) -> Relation:
    """Return the groups of rows beside a domain: the keys and the aggregates by their names.

    Parameters
    ----------
    groupings
        The columns of the domain among them.
    domain
        Where its columns are the only keys: it has a group without rows, too.
    """
    prepared, keys = grouping.with_keys(settled(relation), groupings, context)
    found = grouping.aggregate_once(prepared, keys, aggregates, context)
    if domain is None:
        return found
    none = replace(prepared, frame=prepared.frame.filter(F.lit(False)))
    nothing = grouping.aggregate_once(none, [], aggregates, context) if aggregates else None
    own = [f"$own {name}" for name in found.names]
    of_nothing = [f"$nothing {name}" for name in aggregates]
    groups = found.renamed(own).rows(F.lit(True).alias(_FOUND))
    matched = F.lit(True)
    for name, key in zip(keys, own):
        matched = matched & column(name).eqNullSafe(column(key))
    frame = domain.rows().join(groups, matched, "left")
    if nothing is not None:
        frame = frame.crossJoin(nothing.renamed(of_nothing).frame)
    values = [
        F.when(column(_FOUND), column(f"$own {name}")).otherwise(column(other)).alias(name)
        for name, other in zip(aggregates, of_nothing)
    ]
    return replace(found, frame=frame.select(*map(column, keys), *values))


def limited(
    relation: Relation,
    names: Sequence[str],
    skipped: int,
    wanted: int | None,
    context: TableContext,
) -> Relation:
    """Return the first rows for each row of a domain, in the order that the relation is to have.

    Parameters
    ----------
    names
        The columns of the domain.
    skipped, wanted
        How many rows are left out before, and how many follow at most.
    """
    keys = () if relation.order is None else relation.order.keys
    rows = settled(relation)
    scope = scope_of(rows, context)
    order = [sort_column(key, scope) for key in keys] or [F.lit(True)]
    place = F.row_number().over(Window.partitionBy(*map(column, names)).orderBy(*order))
    frame = rows.rows(place.alias(_PLACE)).filter(column(_PLACE) > skipped)
    if wanted is not None:
        frame = frame.filter(column(_PLACE) <= skipped + wanted)
    single = tuple(names) if wanted is not None and wanted <= 1 else rows.key
    return replace(rows, frame=frame.drop(_PLACE), key=single, order=None)


def with_value(
    left: Relation,
    right: Relation,
    ties: Sequence[Node],
    keys: Sequence[str],
    name: str,
    context: TableContext,
) -> Relation:
    """Return rows with the value of a query of one column for each; no row gives null.

    Parameters
    ----------
    right
        The rows of the query: its column first, then ``keys``, of which there may be none.
    ties
        Which of them belong to a row: conditions by the keys.
    name
        The name of the value.
    """
    inner = settled(right)
    value, data_type = inner.fields[0]
    one = inner.rows()
    if inner.key is None or not set(inner.key) <= set(keys):
        several = F.raise_error(F.lit("a query as a value returned more than one row"))
        picked = F.when(F.count(F.lit(1)) > 1, several.cast("boolean")).otherwise(True)
        first = F.when(picked, F.first(column(value))).alias(value)
        one = one.groupBy(*map(column, keys)).agg(first)
    rows = settled(left)
    both = Relation(rows.frame, (*rows.fields, *inner.fields))
    scope = scope_of(both, context)
    joined = rows.rows().join(one, _all([scope.resolve(node).column for node in ties]), "left")
    frame = joined.select(*rows.columns, column(value).alias(name))
    return _with_column(rows, frame, (name, data_type.nullable()), context)


def with_mark(
    left: Relation,
    right: Relation,
    ties: Sequence[Node],
    comparisons: Sequence[Node],
    name: str,
    context: TableContext,
) -> Relation:
    """Return rows with whether a query has a row for which comparisons with it are true.

    It is true where there is one; null where there is none, and one for which they are not false;
    and false where they are false for all.

    Parameters
    ----------
    ties
        Which rows of the query belong to a row of the left: conditions on both.
    name
        The name of the boolean column.
    """
    for side in (left, right):
        side.refuse_unbounded("IN, EXISTS, ANY or ALL with a query as a value")
    rows, inner = settled(left), settled(right)
    # Spark takes an outer column by its name, and sooner for one that a frame inside has left out:
    # so they have names that no frame has.
    prefix = f"$outer {next(_NUMBERS)} "
    outer = {own: column(f"{prefix}{own}").outer() for own in rows.names}
    both = Relation(inner.frame, (*rows.fields, *inner.fields))
    scope = replace(scope_of(both, context), columns=outer)
    partners = inner.frame
    for node in ties:
        partners = partners.filter(scope.resolve(node).column)
    resolved = [scope.resolve(node) for node in comparisons]
    mark = partners.filter(_all([each.column for each in resolved])).exists()
    data_type = DataTypes.BOOLEAN().not_null()
    if any(each.data_type._nullable for each in resolved):
        data_type = DataTypes.BOOLEAN()
        unknown = partners.filter(_all([each.column for each in resolved]).isNull()).exists()
        if len(comparisons) == 1:
            # With a null on one side a single comparison is null: these are joins by the ties.
            value, other = comparisons[0].children
            absent = scope_of(rows, context).resolve(value).column.isNull()
            unknown = partners.filter(scope.resolve(other).column.isNull()).exists()
            unknown = unknown | (absent & partners.exists())
        mark = F.when(mark, True).when(~unknown, False)
    named = rows.rows(*(column(own).alias(f"{prefix}{own}") for own in rows.names))
    frame = named.select(*rows.columns, mark.alias(name))
    return _with_column(rows, frame, (name, data_type), context)


def _all(conditions: Sequence[Column]) -> Column:
    """Return whether all conditions are true."""
    result = F.lit(True)
    for place, condition in enumerate(conditions):
        result = result & condition if place else condition
    return result


def _with_column(
    rows: Relation, frame: DataFrame, field: tuple[str, DataType], context: TableContext
) -> Relation:
    result = replace(rows, frame=frame, fields=(*rows.fields, field), order=None)
    if context.is_streaming and not rows.unbounded:
        return inserted_once(result)
    return result
