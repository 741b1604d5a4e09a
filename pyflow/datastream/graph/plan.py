"""The graph of a program as JSON, in the form of Flink's plans."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyflow.datastream.graph.driver_sinks import DiscardingSink
from pyflow.datastream.graph.transformations import (
    Input,
    ShuffledInput,
    SinkOf,
    SourceOf,
    Transformation,
)

if TYPE_CHECKING:
    from pyflow.datastream.runtime.keys import Distribution

__all__ = ["of", "strategy_of"]

_STRATEGIES = {
    "Broadcast": "BROADCAST",
    "ByKey": "HASH",
    "Custom": "CUSTOM",
    "Forward": "FORWARD",
    "RoundRobin": "REBALANCE",
    "Shuffled": "SHUFFLE",
    "Single": "GLOBAL",
}


def of(sinks: Sequence[SinkOf], parallelism: int, attached: Iterable[tuple[int, str]] = ()) -> str:
    """Return the graph that leads to sinks.

    Parameters
    ----------
    sinks
        What the program writes to.
    parallelism
        Of operators that have none of their own.
    attached
        Numbers and names of tables that are written beside them, each of which is a sink alone.
    """
    known: dict[int, Transformation] = {}

    def visit(each: Transformation) -> None:
        if each.number in known:
            return
        for entry in each.inputs():
            for output in entry.outputs:
                visit(output.of)
        known[each.number] = each

    for sink in sinks:
        if not isinstance(sink.sink, DiscardingSink):
            visit(sink)
            continue
        for entry in sink.inputs():
            for output in entry.outputs:
                visit(output.of)
    nodes = [_node(known[number], parallelism) for number in sorted(known)]
    nodes += [_table(number, name, parallelism) for number, name in attached]
    return json.dumps({"nodes": nodes}, indent=2)


def _node(each: Transformation, parallelism: int) -> dict[str, Any]:
    pact, prefix = _pact(each)
    own = each.hints.get("parallelism", each.parallelism)
    node: dict[str, Any] = {
        "id": each.number,
        "type": f"{prefix}{each.name}",
        "pact": pact,
        "contents": f"{prefix}{each.description or each.name}",
        "parallelism": own if own > 0 else parallelism,
    }
    predecessors = [
        {"id": output.of.number, "ship_strategy": strategy_of(entry), "side": "second"}
        for entry in each.inputs()
        for output in entry.outputs
    ]
    return {**node, "predecessors": predecessors} if predecessors else node


def _table(number: int, name: str, parallelism: int) -> dict[str, Any]:
    return {
        "id": number,
        "type": f"Sink: {name}",
        "pact": "Data Sink",
        "contents": f"Sink: {name}",
        "parallelism": parallelism,
    }


def _pact(each: Transformation) -> tuple[str, str]:
    """Return what kind a node is, and what its name begins with."""
    if isinstance(each, SourceOf):
        return "Data Source", "Source: "
    return ("Data Sink", "Sink: ") if isinstance(each, SinkOf) else ("Operator", "")


def strategy_of(entry: Input) -> str:
    """Return by what Flink's plans say how elements come to an input."""
    if not isinstance(entry, ShuffledInput):
        return "FORWARD"
    distribution: Distribution = entry.distribution(())
    return _STRATEGIES[type(distribution).__name__]
