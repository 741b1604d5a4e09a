"""A profile in the format of https://www.speedscope.app, which other viewers read, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyflow.cli.profiling.samples import Frame, Stack

__all__ = ["to_speedscope"]

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def to_speedscope(name: str, stacks: Iterable[Stack]) -> dict[str, Any]:
    """Return a document with a profile for each executor.

    Parameters
    ----------
    name : str
        Of what was profiled.
    stacks : iterable of Stack
        In any order.
    """
    numbers: dict[Frame, int] = {}
    profiles: dict[str, dict[str, Any]] = {}
    for stack in stacks:
        profile = profiles.setdefault(stack.executor, _empty(stack.executor))
        profile["samples"].append(
            [numbers.setdefault(frame, len(numbers)) for frame in stack.frames]
        )
        profile["weights"].append(stack.seconds)
        profile["endValue"] += stack.seconds
    return {
        "$schema": _SCHEMA,
        "name": name,
        "exporter": "pyflow",
        "shared": {"frames": [_described(frame) for frame in numbers]},
        "profiles": list(profiles.values()),
    }


def _empty(executor: str) -> dict[str, Any]:
    return {
        "type": "sampled",
        "name": f"executor {executor}",
        "unit": "seconds",
        "startValue": 0,
        "endValue": 0.0,
        "samples": [],
        "weights": [],
    }


def _described(frame: Frame) -> dict[str, Any]:
    if frame.file is None:
        return {"name": frame.name}
    return {"name": frame.name, "file": frame.file, "line": frame.line}
