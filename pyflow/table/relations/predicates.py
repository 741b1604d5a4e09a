"""Conditions: what they consist of, and which are checked before the rows that they are about.

A join that keeps rows in state is made again with the conditions on its result: equalities are its
key, and a condition on one side leaves fewer rows to keep. Spark does so with joins of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyflow.table.changes.relation import Relation
from pyflow.table.columns.nodes import Call, Cast, Field, Literal, Node, Symbol
from pyflow.table.functions.builtins import built_in

# A call of these has another result for each row, or at another time.
_CHANGING = frozenset(
    {
        "CURRENT_WATERMARK", "PROCTIME", "currentDate", "currentRowTimestamp", "currentTime",
        "currentTimestamp", "localTime", "localTimestamp", "now", "rand", "randInteger",
        "unixTimestamp", "uuid",
    }
)  # fmt: skip


def all_of(conditions: Sequence[Node]) -> Node | None:
    """Return whether all conditions are true; None of no condition."""
    if len(conditions) > 1:
        return Call(built_in("and"), tuple(conditions))
    return conditions[0] if conditions else None


def conjuncts(node: Node) -> Iterator[Node]:
    """Yield the conditions that all must hold."""
    if isinstance(node, Call) and node.function.name == "and":
        for part in node.arguments:
            yield from conjuncts(part)
    elif isinstance(node, Call) and node.function.name == "between":
        value, low, high = node.arguments
        yield replace(node, function=built_in("greaterThanOrEqual"), arguments=(value, low))
        yield replace(node, function=built_in("lessThanOrEqual"), arguments=(value, high))
    else:
        yield node


def implied(condition: Node) -> Iterator[Node]:
    """Yield what holds where a condition does: its parts, and what all parts of an OR share."""
    for part in conjuncts(condition):
        yield part
        if isinstance(part, Call) and part.function.name == "or":
            first, *others = ([*conjuncts(each)] for each in part.arguments)
            yield from (each for each in first if all(each in other for other in others))


def may_move(condition: Node) -> bool:
    """Return whether a condition is as true of a row when it is checked earlier."""
    if isinstance(condition, Call):
        if condition.function.name in _CHANGING:
            return False
    elif not isinstance(condition, (Cast, Field, Literal, Symbol)):
        return False
    return all(map(may_move, condition.children))


def pushed(relation: Relation, condition: Node) -> tuple[Relation, Node | None]:
    """Return the relation made again of fewer rows, and what of the condition it has not taken."""
    pushdown = relation.pushdown
    if pushdown is None or pushdown.frame is not relation.frame:
        return relation, condition
    moved = [part for part in implied(condition) if may_move(part)]
    below, left = pushdown.take(moved)
    taken = [part for part in moved if part not in left]
    return below, all_of([part for part in conjuncts(condition) if part not in taken])
