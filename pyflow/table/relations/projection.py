"""Operations that work on one row at a time: select, filter, and columns added or dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflow.table.changes.relation import Relation, TimeAttribute, check_unique, made_again
from pyflow.table.columns.nodes import Alias, Call, Field, InTable, Node
from pyflow.table.expression import Expression
from pyflow.table.functions.names import with_functions
from pyflow.table.functions.resolution import Scope
from pyflow.table.relations.predicates import pushed
from pyflow.types.logical_types import BooleanType
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import WindowSpec

    from pyflow.table.context import TableContext


def scope_of(relation: Relation, context: TableContext) -> Scope:
    """Return what names mean in an expression over a relation."""
    return Scope(frame=relation.frame, fields=dict(relation.fields), context=context)


def node_of(expression: Any, context: TableContext) -> Node:
    """Return the node of an expression of a program, with the functions that its names mean."""
    if isinstance(expression, Expression):
        return with_functions(expression._node, context)
    if isinstance(expression, str):
        raise TableException(
            f"an expression as text is no longer part of the Table API: {expression!r}. "
            f"Write it with col(), lit() and their methods, from pyflow.table.expressions."
        )
    raise TypeError(f"expected an Expression, got {type(expression).__name__}: {expression!r}")


def nodes_of(expressions: Iterable[Any], context: TableContext) -> list[Node]:
    """Return the nodes of expressions of a program; see :func:`node_of`."""
    return [node_of(expression, context) for expression in expressions]


def project(
    relation: Relation,
    nodes: Sequence[Node],
    context: TableContext,
    windows: Mapping[str, WindowSpec] | None = None,
) -> Relation:
    """Return the relation that has the expressions' values as its columns.

    Parameters
    ----------
    windows
        The OVER windows that the expressions may name.
    """
    scope = replace(scope_of(relation, context), windows=windows or {})
    expanded = scope.expand(nodes)
    names = [scope.name_of(node, position) for position, node in enumerate(expanded)]
    check_unique(names)
    resolved = [scope.resolve(node) for node in expanded]
    columns = [value.column.alias(name) for name, value in zip(names, resolved)]
    kept = _kept_names(expanded, names)
    result = Relation(
        frame=relation.frame.select(*columns, *relation.changes),
        fields=tuple((name, value.data_type) for name, value in zip(names, resolved)),
        time_attributes={**_kept_times(relation, kept), **_new_times(expanded, names)},
        key=_kept_key(relation, kept),
        updating=relation.updating,
        window=None if relation.window is None else relation.window.renamed(kept),
    )
    if windows:
        # What they tell of a row depends on the others.
        return result
    old = {after: before for before, after in kept.items()}
    return made_again(result, relation, lambda rows: project(rows, nodes, context), old)


def _kept_names(nodes: Sequence[Node], names: Sequence[str]) -> dict[str, str]:
    """Return the new name of each column that goes through unchanged."""
    kept: dict[str, str] = {}
    for node, name in zip(nodes, names):
        while isinstance(node, Alias):
            node = node.child
        if isinstance(node, Field):
            kept.setdefault(node.name, name)
    return kept


def _kept_times(relation: Relation, kept: dict[str, str]) -> dict[str, TimeAttribute]:
    return {kept[name]: time for name, time in relation.time_attributes.items() if name in kept}


def _new_times(nodes: Sequence[Node], names: Sequence[str]) -> dict[str, TimeAttribute]:
    """Return the columns that are times of processing."""
    found = {}
    for node, name in zip(nodes, names):
        while isinstance(node, Alias):
            node = node.child
        if isinstance(node, Call) and node.function.name == "PROCTIME":
            found[name] = TimeAttribute("proctime")
    return found


def _kept_key(relation: Relation, kept: dict[str, str]) -> tuple[str, ...] | None:
    if relation.key is None or not all(name in kept for name in relation.key):
        return None
    return tuple(kept[name] for name in relation.key)


def filter_rows(relation: Relation, predicate: Node, context: TableContext) -> Relation:
    """Return the rows for which the predicate is true."""
    check_condition(relation, predicate, context)
    relation, left = pushed(relation, predicate)
    if left is None:
        return replace(relation, order=None)

    def filtered(rows: Relation) -> Relation:
        condition = scope_of(rows, context).resolve(left)
        return replace(rows, frame=rows.frame.filter(condition.column), order=None)

    return made_again(filtered(relation), relation, filtered)


def split_memberships(predicate: Node) -> tuple[list[Node], list[tuple[InTable, bool]]]:
    """Return what a predicate joins by AND: others, and tables that values are in.

    With the latter it says whether it is the rows for which this is not true.
    """
    if isinstance(predicate, InTable):
        return [], [(predicate, False)]
    name = predicate.function.name if isinstance(predicate, Call) else None
    if name == "isNotTrue" and isinstance(predicate.children[0], InTable):
        return [], [(predicate.children[0], True)]
    if name != "and":
        return [predicate], []
    parts = list(map(split_memberships, predicate.children))
    return (
        [each for others, _ in parts for each in others],
        [each for _, memberships in parts for each in memberships],
    )


def check_condition(relation: Relation, predicate: Node, context: TableContext) -> None:
    """Raise for what cannot be true or false of the rows."""
    data_type = scope_of(relation, context).resolve(predicate).data_type
    if not isinstance(data_type, BooleanType):
        raise TableException(
            "Filter operator requires a boolean expression as input, "
            f"but the expression is of type {data_type.sql}"
        )


def add_columns(relation: Relation, nodes: Sequence[Node], context: TableContext) -> Relation:
    """Return the relation with more columns at its end."""
    scope = scope_of(relation, context)
    _check_no_aggregates(scope, nodes)
    return project(relation, [*map(Field, relation.names), *nodes], context)


def add_or_replace_columns(
    relation: Relation, nodes: Sequence[Node], context: TableContext
) -> Relation:
    """Return the relation with more columns, which replace those of the same name."""
    scope = scope_of(relation, context)
    _check_no_aggregates(scope, nodes)
    columns: dict[str, Node] = {name: Field(name) for name in relation.names}
    for position, node in enumerate(scope.expand(nodes)):
        columns[scope.name_of(node, len(relation.names) + position)] = node
    return project(relation, list(columns.values()), context)


def _check_no_aggregates(scope: Scope, nodes: Sequence[Node]) -> None:
    for node in nodes:
        if scope.has_aggregates(node):
            raise TableException(
                f"The added field expression cannot be an aggregation, found: {node}"
            )


def rename_columns(relation: Relation, nodes: Sequence[Node], context: TableContext) -> Relation:
    """Return the relation with other names for some of its columns."""
    columns: dict[str, Node] = {name: Field(name) for name in relation.names}
    for node in scope_of(relation, context).expand(nodes):
        if not (isinstance(node, Alias) and isinstance(node.child, Field)):
            raise TableException(
                "Invalid alias for a renaming column operation. Renaming must add an alias to an "
                f"existing field, e.g. col('a').alias('a1'), but was: {node}"
            )
        columns[node.child.name] = node
    return project(relation, list(columns.values()), context)


def drop_columns(relation: Relation, nodes: Sequence[Node], context: TableContext) -> Relation:
    """Return the relation without some of its columns."""
    dropped = set()
    for node in scope_of(relation, context).expand(nodes):
        if not isinstance(node, Field):
            raise TableException(f"Unexpected drop column expression: {node}")
        if node.name not in relation.names:
            raise TableException(f"Field {node.name} does not exist in source table")
        dropped.add(node.name)
    left = [Field(name) for name in relation.names if name not in dropped]
    return project(relation, left, context)


def alias(relation: Relation, names: Sequence[str]) -> Relation:
    """Return the relation with new names for its first columns."""
    if len(names) > len(relation.names):
        raise TableException(
            f"Aliasing {len(relation.names)} columns takes at most as many names, "
            f"got {len(names)}: {', '.join(names)}"
        )
    if "*" in names:
        raise TableException("Alias can not accept '*' as name.")
    new = [*names, *relation.names[len(names) :]]
    check_unique(new)
    return relation.renamed(new)
