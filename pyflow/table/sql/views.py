"""Views of queries in SQL, and the names in expressions that tables keep as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from pyflow.table.catalogs.objects import QueryView
from pyflow.table.columns.nodes import Field
from pyflow.table.relations import projection
from pyflow.table.sql.dialect import parse
from pyflow.table.sql.expressions import path_of
from pyflow.table.sql.queries import relation_of
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyflow.table.catalogs.objects import CatalogBaseTable
    from pyflow.table.changes.relation import Relation
    from pyflow.table.context import TableContext


def view(context: TableContext, table: CatalogBaseTable, identifier: str) -> Relation:
    """Return the rows of a view, whose query is read anew.

    Raises
    ------
    TableException
        If what it names is no longer there.
    """
    text = str(table.expanded_query)
    try:
        if not isinstance(table, QueryView):
            relation = relation_of(context, text, parse(text))
        else:
            with context.catalogs.within(*table.place):
                relation = relation_of(context, text, parse(text))
            relation = _columns_of(relation, table, context)
    except TableException as error:
        raise TableException(f"The view {identifier} cannot be read: {error}") from error
    return projection.alias(relation, [column.name for column in table.schema.columns])


def _columns_of(relation: Relation, table: QueryView, context: TableContext) -> Relation:
    """Return the columns that the query had when the view was made."""
    names = list(table.query_columns)
    if relation.names == names:
        return relation
    missing = [name for name in names if name not in relation.names]
    if missing:
        raise TableException(f"its query has no column {', '.join(missing)} any more")
    return projection.project(relation, [Field(name) for name in names], context)


def columns_named(expression: str) -> set[str]:
    """Return the names of columns in an expression of SQL."""
    found = set()
    for node in parse(f"SELECT {expression}").walk():
        path = path_of(node) if isinstance(node, (exp.Column, exp.Dot)) else None
        if path:
            found.add(path[0])
    return found
