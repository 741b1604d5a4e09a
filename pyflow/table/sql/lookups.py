"""``JOIN t FOR SYSTEM_TIME AS OF o.proctime``: the table whose rows are looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from pyflow.table.columns.nodes import Field
from pyflow.table.relations import lookup_joins
from pyflow.table.sql.names import Rows, of_relation

if TYPE_CHECKING:
    from pyflow.table.sql.query_base import Query


def dimension_of(query: Query, left: Rows, join: exp.Join) -> tuple[lookup_joins.Dimension, Rows]:
    """Return the table at the right side of a lookup join, and its columns as rows of FROM.

    Raises
    ------
    TableException
        With line and column, for what is no table of a connector, and where the time is no
        processing time of the left side.
    """
    table = join.this
    _check_time(query, left, table.args["version"])
    if not isinstance(table, exp.Table):
        query.refuse(table, "only rows of a table can be looked up")
    parts = [part.name for part in table.parts]
    if len(parts) == 1 and parts[0] in query.common_tables:
        query.refuse(table, f"{parts[0]!r} is a query: only rows of a table can be looked up")
    with query.translator(left).at(table):
        path = ".".join("`" + part.replace("`", "``") + "`" for part in parts)
        entry = query.context.catalogs.find(path)
        if entry.descriptor is None:
            query.refuse(table, f"{parts[-1]!r} is a view: only rows of a table can be looked up")
        found = lookup_joins.dimension_of(entry.descriptor, entry.identifier, query.context)
    rows = of_relation(found.shape, entry.path)
    alias = table.args.get("alias")
    if alias is None:
        return found, rows
    return found, query.aliased(rows, alias)


def _check_time(query: Query, left: Rows, version: exp.Expr) -> None:
    node = query.translator(left).node(version.this)
    name = node.name if isinstance(node, Field) else ""
    attribute = left.relation.time_attributes.get(name)
    if attribute is None:
        query.refuse(
            version,
            "Temporal table join currently only supports 'FOR SYSTEM_TIME AS OF' left table's time "
            "attribute field: a column that is declared AS PROCTIME()",
        )
    if attribute.kind != "proctime":
        query.refuse(
            version,
            "FOR SYSTEM_TIME AS OF an event time (a join with a versioned table) is not supported; "
            "a column that is declared AS PROCTIME() looks up the rows of now",
        )
