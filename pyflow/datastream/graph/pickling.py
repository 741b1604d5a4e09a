"""Functions of a program, on their way to executors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflow.datastream.runtime.pickling import dumps_of_program

if TYPE_CHECKING:
    from pyflow.datastream.runtime.chain import Node
    from pyflow.datastream.runtime.source_stage import SourceSpec
    from pyflow.datastream.runtime.stage import StageSpec

__all__ = ["UnpicklableFunctionError", "pickled"]


class UnpicklableFunctionError(TypeError):
    """A function of a program cannot be sent to executors."""


def pickled(spec: SourceSpec | StageSpec) -> bytes:
    """Return a stage, pickled, and each of its operators by itself: they share no function.

    Raises
    ------
    UnpicklableFunctionError
        If a function of it cannot be pickled. It says which one, and what it has captured.
    """
    nodes = {number: replace(node, operator=_pickled(node)) for number, node in spec.nodes.items()}
    return dumps_of_program(replace(spec, nodes=nodes))


def _pickled(node: Node) -> bytes:
    try:
        return dumps_of_program(node.operator)
    except Exception as error:
        raise UnpicklableFunctionError(
            f"operator '{node.name}' cannot be sent to executors: {_reason(node.operator, error)}"
        ) from error


def _reason(operator: Any, error: Exception) -> str:
    """Why an operator cannot be pickled, where that has raised an error."""
    function = getattr(operator, "function", operator)
    for name, captured in _captured(function):
        try:
            dumps_of_program(captured)
        except Exception as own:
            return f"its function has captured '{name}', a {type(captured).__name__}: {own}"
    return f"{type(error).__name__}: {error}"


def _captured(function: Any) -> Iterator[tuple[str, Any]]:
    """What a function refers to: its closure, globals that it names, or its attributes."""
    code = getattr(function, "__code__", None)
    if code is None:
        yield from getattr(function, "__dict__", {}).items()
        return
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue
    for name in code.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name]
