"""QUALIFY: a SELECT in FROM of a query whose WHERE is the condition.

What the condition, or ORDER BY, has of the rows becomes columns of the SELECT that ``*`` leaves
out. A condition on ROW_NUMBER is then that of a Top-N.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from pyflow.table.sql import tree

__all__ = ["HIDDEN", "order_qualified", "qualified"]

#: Begins the names of columns of which the condition is made.
HIDDEN = "$qualify"

_INNER = "qualified"


def qualified(select: exp.Select, condition: exp.Expr, text: str) -> exp.Select:
    """Return a query of the rows of a SELECT for which a condition holds.

    Parameters
    ----------
    select
        Without QUALIFY and ORDER BY.
    condition
        It has OVER windows, or columns of the SELECT that are windows.
    text
        The statement, for errors.
    """
    columns = _Columns(select)
    expanded = columns.expanded(condition)
    if not _has_window(expanded):
        tree.refuse(text, condition, "a QUALIFY condition must contain a window function")
    where = exp.Where(this=_replaced(expanded, columns.column))
    distinct = select.args.get("distinct")
    select.set("distinct", None)
    made = exp.Select(
        expressions=[exp.Star()],
        from_=exp.From(this=exp.Subquery(this=select)),
        where=where,
        distinct=distinct,
    )
    made.meta[_INNER] = select
    return made


def order_qualified(query: exp.Expr, order: exp.Order) -> None:
    """Have ORDER BY of a query with QUALIFY find the columns that are not selected."""
    select = query.meta.get(_INNER)
    if select is None:
        return
    columns = _Columns(select)
    for key in order.expressions:
        given = key.this
        if not isinstance(given, exp.Literal) and columns.name_of(given) is None:
            key.set("this", _replaced(given, columns.column))


class _Columns:
    """The columns of a SELECT, to which others can be added."""

    def __init__(self, select: exp.Select) -> None:
        self._select = select
        self._named: dict[str, exp.Expr] = {}
        for item in select.expressions:
            if isinstance(item, exp.Alias):
                self._named[item.alias] = item.this
            elif isinstance(item, (exp.Column, exp.Dot)):
                self._named[item.expression.name if isinstance(item, exp.Dot) else item.name] = item

    def name_of(self, node: exp.Expr) -> str | None:
        """Return the name of the column that a node names, None if it names none."""
        return node.name if isinstance(node, exp.Column) and node.name in self._named else None

    def expanded(self, condition: exp.Expr) -> exp.Expr:
        """Return a condition with what the columns are in place of their names."""

        def expand(node: exp.Expr) -> exp.Expr:
            # Names in a query are those of its own tables.
            if isinstance(node.parent, exp.Dot) or node.find_ancestor(exp.Query) is not None:
                return node
            name = self.name_of(node)
            return node if name is None else self._named[name].copy()

        return condition.transform(expand)

    def column(self, node: exp.Expr) -> exp.Expr:
        """Return the column of an expression, which is added where there is none."""
        found = next((name for name, each in self._named.items() if each == node), None)
        if found is None:
            count = sum(name.startswith(HIDDEN) for name in self._named)
            found = f"{HIDDEN}{count}"
            alias = exp.to_identifier(found, quoted=True)
            self._select.append("expressions", exp.Alias(this=node, alias=alias))
            self._named[found] = node
        column = exp.Column(this=exp.to_identifier(found, quoted=True))
        column.meta.update(node.meta)
        return column


def _replaced(node: exp.Expr, column: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """Return an expression with columns for its windows, and for the largest parts without any."""
    if isinstance(node, exp.Window):
        return column(node.copy())
    if not _has_window(node):
        return column(node.copy()) if _depends_on_rows(node) else node
    args: Mapping[str, object] = node.args
    for key, value in list(args.items()):
        if key == "query":
            continue  # That of IN is not a value.
        if isinstance(value, exp.Expr):
            node.set(key, _replaced(value, column))
        elif isinstance(value, list):
            node.set(
                key,
                [_replaced(each, column) if isinstance(each, exp.Expr) else each for each in value],
            )
    return node


def _has_window(node: exp.Expr) -> bool:
    """Return whether there is a window in an expression, but for the queries in it."""
    nodes = node.walk(prune=lambda each: isinstance(each, exp.Query))
    return any(isinstance(each, exp.Window) for each in nodes)


def _depends_on_rows(node: exp.Expr) -> bool:
    return node.find(exp.Column, exp.Query, exp.AggFunc, exp.Anonymous) is not None
