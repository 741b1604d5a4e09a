"""The stacks that executors have counted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Frame", "Stack", "stacks_of"]

#: What is on a stack instead of Python's frames, by the state of its thread.
_STATES = {
    "no frames": "(between calls of Python code)",
    "waits for the GIL": "(waits for the GIL)",
    "unreadable": "(gone on while it was read)",
    "not kept": "(stacks beyond the most that are kept)",
}
_STARTED = "threads that functions have started"
# As py-spy writes a frame, and the process that it is of.
_FRAME = re.compile(r"(.+) \((.+):(\d+)\)")
_PROCESS = re.compile(r"process (\d+)")


@dataclass(frozen=True)
class Frame:
    """A function on a stack, or what has called the functions above it.

    Parameters
    ----------
    name : str
        With the names of the classes and functions around it.
    file : str, optional
        None for what is no function.
    line : int
        The function's first.
    """

    name: str
    file: str | None = None
    line: int = 0


@dataclass(frozen=True)
class Stack:
    """Equal stacks of one executor.

    Parameters
    ----------
    executor : str
        Its id.
    frames : tuple of Frame
        The outermost first; the first say what has called the others.
    samples : int
        How often it was seen.
    seconds : float
        What that stands for.
    with_gil : int, optional
        How often its thread held the GIL then; None for workers.
    """

    executor: str
    frames: tuple[Frame, ...]
    samples: int
    seconds: float
    with_gil: int | None = None


def stacks_of(executor: dict[str, Any], seconds: float, by_task: bool) -> Iterator[Stack]:
    """Yield the stacks of an executor, as it has answered.

    Parameters
    ----------
    executor : dict
        The answer.
    seconds : float
        How long it has sampled.
    by_task : bool
        Whether equal stacks of different tasks, workers and executors are kept apart.
    """
    identifier = executor["executor"]
    above = (Frame(f"executor {identifier}"),) if by_task else ()
    tasks = executor["tasks"]
    functions = [Frame(**each) for each in tasks.get("functions", [])]
    each_seconds = seconds / tasks["samples"]
    for stack in tasks.get("stacks", []):
        frames = [functions[each] for each in reversed(stack["functions"])]
        if stack["state"] in _STATES:
            frames = [Frame(_STATES[stack["state"]])]
        elif stack["call"] >= 0:
            methods = tasks["calls"][stack["call"]]["methods"]
            frames += [Frame(each) for each in reversed(methods)]
        caller = _caller(tasks["calls"], stack["call"], by_task)
        samples = stack["samples"]
        yield Stack(
            identifier,
            (*above, *caller, *frames),
            samples,
            samples * each_seconds,
            stack["with_gil"],
        )
    for worker in executor["workers"]:
        for line in worker.get("stacks", "").splitlines():
            frames, samples = _of_worker(line, by_task)
            yield Stack(identifier, (*above, *frames), samples, samples * each_seconds)


def _caller(calls: list[dict[str, Any]], number: int, by_task: bool) -> tuple[Frame, ...]:
    if number < 0:
        return (Frame(_STARTED),)
    call = calls[number]
    functions = Frame(f"operator of {call['functions']}")
    return (Frame(f"task {call['task']}"), functions) if by_task else (functions,)


def _of_worker(line: str, by_task: bool) -> tuple[list[Frame], int]:
    """Return the frames of a line of py-spy's, and how often they were seen."""
    text, _, samples = line.rpartition(" ")
    frames = [] if by_task else [Frame("Python workers")]
    process = None
    for each in text.split(";"):
        if found := _FRAME.fullmatch(each):
            frames.append(Frame(found[1], found[2], int(found[3])))
        elif found := _PROCESS.match(each):
            process = found[1]
    if by_task:
        frames.insert(0, Frame(f"worker process {process}" if process else "Python worker"))
    return frames, int(samples)
