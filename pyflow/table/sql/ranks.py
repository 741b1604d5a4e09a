"""Top-N: which row numbers of a query with ROW_NUMBER the outer query selects."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pyflow.table.sql import tree
from pyflow.table.sql.expressions import path_of
from pyflow.table.sql.qualify import HIDDEN

__all__ = ["Places", "wanted_places"]

_TURNED = {exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE, exp.EQ: exp.EQ}


@dataclass(frozen=True)
class Places:
    """The first and the last row number, from 1, and whether row numbers are in the result."""

    first: int
    last: int
    shown: bool


def wanted_places(select: exp.Select, call: exp.Window) -> Places | None:
    """Return which row numbers of a SELECT with ROW_NUMBER the outer query selects.

    Returns
    -------
    Places or None
        None if the SELECT is not in FROM of a query with a condition such as ``n <= 3``.
    """
    name = next(
        (i.alias for i in select.expressions if isinstance(i, exp.Alias) and i.this is call), ""
    )
    outer = _around(select)
    where = None if outer is None else outer.args.get("where")
    if not name or outer is None or where is None:
        return None
    first, last = 1, None
    for condition in tree.conjuncts(where.this):
        low, high = _bounds(condition, name)
        first = max(first, low)
        if high is not None:
            last = high if last is None else min(last, high)
    if last is None:
        return None
    return Places(first, last, _is_shown(outer, where, name))


def _around(select: exp.Select) -> exp.Select | None:
    """Return the outer query, if it has this one, and nothing else, in FROM."""
    node = select.parent
    if not isinstance(node, exp.Subquery):
        return None
    node = node.parent
    while isinstance(node, (exp.From, exp.Subquery, exp.Paren)):
        node = node.parent
    return node if isinstance(node, exp.Select) else None


def _bounds(condition: exp.Expr, name: str) -> tuple[int, int | None]:
    """Return the least and the greatest row number that satisfy a condition."""
    if isinstance(condition, exp.Between):
        low, high = _number(condition.args["low"]), _number(condition.args["high"])
        if _is_column(condition.this, name) and low is not None and high is not None:
            return low, high
        return 1, None
    kind = type(condition)
    if kind not in _TURNED:
        return 1, None
    one, other = condition.this, condition.expression
    if _is_column(other, name):
        one, other, kind = other, one, _TURNED[kind]
    number = _number(other)
    if not _is_column(one, name) or number is None:
        return 1, None
    if kind is exp.EQ:
        return number, number
    if kind in (exp.LT, exp.LTE):
        return 1, number - (kind is exp.LT)
    return number + (kind is exp.GT), None


def _is_column(node: exp.Expr, name: str) -> bool:
    path = path_of(node)
    return path is not None and path[-1] == name


def _number(node: exp.Expr) -> int | None:
    is_whole = isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()
    return int(node.name) if is_whole else None


def _is_shown(outer: exp.Select, where: exp.Expr | None, name: str) -> bool:
    """Return whether a query uses the row number elsewhere than in its condition.

    ``*`` uses it if the next outer query does.
    """
    if name.startswith(HIDDEN):
        return False
    all_columns = False
    for part in outer.args.values():
        for node in part if isinstance(part, list) else [part]:
            if not isinstance(node, exp.Expr) or node is where or isinstance(node, exp.From):
                continue
            if any(each.name == name for each in node.find_all(exp.Identifier)):
                return True
            all_columns |= any(map(_is_all_columns, node.find_all(exp.Star)))
    if not all_columns:
        return False
    around = _around(outer) if _is_plain(outer) else None
    return around is None or _is_shown(around, None, name)


def _is_all_columns(star: exp.Star) -> bool:
    """Return whether it is an item of a SELECT, as ``*`` or ``t.*``; COUNT has one, too."""
    item = star.parent if isinstance(star.parent, exp.Column) else star
    return isinstance(item.parent, exp.Select)


def _is_plain(select: exp.Select) -> bool:
    """Return whether a query only projects and filters, and its columns keep their names."""
    alias = select.parent.args.get("alias") if select.parent is not None else None
    given = {part for part, value in select.args.items() if value}
    return given <= {"expressions", "from_", "where"} and not (alias and alias.args.get("columns"))
