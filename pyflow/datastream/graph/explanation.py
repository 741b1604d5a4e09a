"""How Spark runs a program, in words: its queries, their stages, and the chains in them."""

from __future__ import annotations

from collections.abc import Iterator

from pyflow.datastream.graph.components import Component, levels_of
from pyflow.datastream.graph.plan import strategy_of
from pyflow.datastream.graph.transformations import (
    Chained,
    Input,
    Output,
    SinkOf,
    SourceOf,
    Stateful,
    Transformation,
)

__all__ = ["stages_of"]

_Consumer = tuple[Transformation, Input, Output]


def stages_of(component: Component, parallelism: int) -> Iterator[str]:
    """Yield the lines of the stages of a query.

    Parameters
    ----------
    component
    parallelism
        How many subtasks are behind a shuffle.
    """
    levels = levels_of(component)
    consumers: dict[int, list[_Consumer]] = {}
    for each in component.transformations:
        for entry in each.inputs():
            for output in entry.outputs:
                consumers.setdefault(output.of.number, []).append((each, entry, output))
    for level in range(max(levels.values(), default=0) + 1):
        kind = Stateful if level else SourceOf
        subtasks = f"{parallelism} subtasks" if level else "a subtask for a partition of a source"
        yield f"Stage {level + 1}: {subtasks}"
        for root in component.of(kind):
            if levels[root.number] == level:
                yield from _chain(root, "  ", consumers)


def _chain(
    first: Transformation, margin: str, consumers: dict[int, list[_Consumer]]
) -> Iterator[str]:
    """Yield the lines of an operator and of what is chained to it."""
    names, last = [_named(first)], first
    while True:
        behind = consumers.get(last.number, [])
        following = [each for each, _, output in behind if output.tag is None]
        if len(behind) != 1 or not following or not isinstance(following[0], Chained):
            break
        (last,) = following
        names.append(_named(last))
    yield margin + " -> ".join(names)
    margin += "  "
    for consumer, entry, output in behind:
        side = "" if output.tag is None else f"side output '{output.tag}': "
        if isinstance(consumer, Chained):
            if side:
                yield margin + side.rstrip()
            yield from _chain(consumer, margin, consumers)
        elif isinstance(consumer, SinkOf):
            yield f"{margin}{side}sink '{consumer.name}'"
        else:
            yield f"{margin}{side}{strategy_of(entry)} to '{consumer.name}'"


def _named(each: Transformation) -> str:
    if not isinstance(each, Stateful):
        return each.name
    keyed = any(entry.selector is not None for entry in each.shuffled)
    return f"{each.name} (state of keys)" if keyed else each.name
