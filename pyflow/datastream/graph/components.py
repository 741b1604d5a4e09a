"""What of a program is connected, which makes one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pyflow.datastream.graph.transformations import SinkOf, Stateful, Transformation

__all__ = ["Component", "branching", "components", "levels_of"]


@dataclass
class Component:
    """Transformations that are connected, in an order in which inputs come before outputs."""

    transformations: list[Transformation] = field(default_factory=list)

    def of(self, kind: type[Any]) -> list[Any]:
        """Return those of a kind."""
        return [each for each in self.transformations if isinstance(each, kind)]


def components(sinks: Sequence[SinkOf]) -> list[Component]:
    """Return the components of what leads to sinks."""
    order: list[Transformation] = []
    group: dict[int, int] = {}

    def root(number: int) -> int:
        while group[number] != number:
            number = group[number]
        return number

    def visit(each: Transformation) -> None:
        if each.number in group:
            return
        group[each.number] = each.number
        for entry in each.inputs():
            for output in entry.outputs:
                visit(output.of)
                group[root(output.of.number)] = root(each.number)
        order.append(each)

    for sink in sinks:
        visit(sink)
    found: dict[int, Component] = {}
    for each in order:
        found.setdefault(root(each.number), Component()).transformations.append(each)
    return list(found.values())


def branching(sinks: Sequence[SinkOf]) -> frozenset[int]:
    """Return the numbers of the transformations of which several take the elements."""
    found: dict[int, int] = {}
    for component in components(sinks):
        for each in component.transformations:
            for output in (output for entry in each.inputs() for output in entry.outputs):
                found[output.of.number] = found.get(output.of.number, 0) + 1
    return frozenset(number for number, consumers in found.items() if consumers > 1)


def levels_of(component: Component) -> dict[int, int]:
    """Return how many shuffles are before what each transformation emits, by its number."""
    levels: dict[int, int] = {}
    for each in component.transformations:
        before = [levels[output.of.number] for entry in each.inputs() for output in entry.outputs]
        levels[each.number] = max(before, default=0) + isinstance(each, Stateful)
    return levels
