"""Lookup joins: each row with the rows that a table elsewhere has for it when it is processed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pyflow.connectors.connector import Connector
from pyflow.table.changes.relation import Relation, column, made_again
from pyflow.table.columns.conversion import convert
from pyflow.table.columns.nodes import Call, Field, Node, field_names
from pyflow.table.columns.type_rules import common
from pyflow.table.relations.interval_joins import JoinType, padded
from pyflow.table.relations.predicates import conjuncts
from pyflow.table.relations.projection import scope_of
from pyflow.table.relations.tables import columns_of, connector_to_read
from pyflow.types.logical_types import BooleanType
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column

    from pyflow.table.context import TableContext
    from pyflow.table.schema import Schema
    from pyflow.table.table_descriptor import TableDescriptor

__all__ = ["Dimension", "dimension_of", "join"]

_FOUND = "$found"


@dataclass(frozen=True)
class Dimension:
    """A table whose rows are looked up.

    Parameters
    ----------
    connector
        What finds them.
    schema
        Its columns.
    shape
        A relation with its columns and without rows, under any names.
    """

    connector: Connector
    schema: Schema
    shape: Relation

    @property
    def names(self) -> list[str]:
        """The names of the columns as the table has them."""
        return [each.name for each in self.schema.columns]


def dimension_of(descriptor: TableDescriptor, identifier: str, context: TableContext) -> Dimension:
    """Return what describes a table as one to look up rows in."""
    connector, schema = connector_to_read(descriptor, identifier)
    stored = connector.table.columns
    nothing = context.session.range(0).select(
        *(F.lit(None).cast(to_spark(data_type)).alias(name) for name, data_type in stored)
    )
    fields, columns, _ = columns_of(Relation(nothing, stored), schema, context)
    return Dimension(connector, schema, Relation(nothing.select(*columns), fields))


def join(
    left: Relation,
    dimension: Dimension,
    condition: Node | None,
    kind: JoinType,
    context: TableContext,
) -> Relation:
    """Return each row with the rows that the dimension has for it then.

    Parameters
    ----------
    dimension
        With names of its columns that the left side does not have.
    condition
        What holds for the pairs. An equality of a column of the dimension with a value of the left
        side, of the same type, finds rows; what else it says is checked on them.
    kind
        ``left`` also keeps rows without any.

    Raises
    ------
    TableException
        For other joins than inner and left ones, without such an equality, and for a table whose
        rows cannot be looked up.
    """
    if kind not in ("inner", "left"):
        raise TableException(
            "Temporal table join currently only supports INNER JOIN and LEFT JOIN, but was "
            f"{kind.upper()} JOIN"
        )
    right = dimension.shape
    stored = dict(dimension.connector.table.columns)
    own = dict(zip(right.names, dimension.names))
    keys: dict[str, Column] = {}
    rest: list[Node] = []
    for node in () if condition is None else conjuncts(condition):
        key = _key(node, left, right, context)
        if key is not None and own[key[0]] in stored and own[key[0]] not in keys:
            keys[own[key[0]]] = key[1]
        else:
            rest.append(node)
    if not keys:
        raise TableException(
            "Temporal table join requires an equality condition on fields of table "
            f"{dimension.connector.table.identifier}: a stored column of it, equal to a value of "
            "the same type of the other table. Cast that value if its type is another"
        )
    frame = left.frame.select("*", dimension.connector.lookup(keys, context).alias(_FOUND))
    rows = F.transform(column(_FOUND), lambda row: _shaped(row, dimension, context))
    for node in rest:
        rows = F.filter(rows, _test(node, left, right, context))
    exploded = F.inline_outer(rows) if kind == "left" else F.inline(rows)
    fields = padded(left, right, kind)
    found = frame.select(*left.columns, *left.changes, exploded)
    joined = found.select(*(column(name) for name, _ in fields), *left.changes)
    whole_key = set(dimension.connector.table.primary_key)
    result = replace(
        left,
        frame=joined,
        fields=fields,
        key=left.key if whole_key and whole_key <= keys.keys() else None,
        order=None,
    )
    return made_again(result, left, lambda rows: join(rows, dimension, condition, kind, context))


def _key(
    node: Node, left: Relation, right: Relation, context: TableContext
) -> tuple[str, Column] | None:
    """Return the column of the right side that an equality finds rows by, and its value."""
    if not isinstance(node, Call) or node.function.name != "equals":
        return None
    one, other = node.arguments
    if not (isinstance(other, Field) and other.name in right.names):
        one, other = other, one
    if not (isinstance(other, Field) and other.name in right.names):
        return None
    if not set(field_names(one)) <= set(left.names):
        return None
    value = scope_of(left, context).resolve(one)
    wanted = dict(right.fields)[other.name].nullable()
    shared = common([value.data_type, wanted])
    if shared is None or shared.nullable() != wanted:
        return None
    return other.name, convert(value.column, value.data_type, wanted)


def _shaped(row: Column, dimension: Dimension, context: TableContext) -> Column:
    """Return a row that was found with the columns of the schema."""
    stored = dimension.connector.table.columns
    values = {name: row.getField(name).cast(to_spark(each)) for name, each in stored}
    _, columns, _ = columns_of(
        Relation(dimension.shape.frame, stored), dimension.schema, context, values
    )
    return F.struct(*(each.alias(name) for each, name in zip(columns, dimension.shape.names)))


def _test(
    node: Node, left: Relation, right: Relation, context: TableContext
) -> Callable[[Column], Column]:
    """Return what tells whether a condition holds for a row that was found."""
    scope = scope_of(Relation(left.frame, (*left.fields, *right.fields)), context)

    def holds(row: Column) -> Column:
        known = {name: row.getField(name) for name in right.names}
        found = replace(scope, columns=known).resolve(node)
        if not isinstance(found.data_type, BooleanType):
            raise TableException(
                "Filter operator requires a boolean expression as input, "
                f"but the join condition is of type {found.data_type.sql}"
            )
        return found.column

    return holds
