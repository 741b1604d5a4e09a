"""Paths into JSON, in the language of Jayway's JsonPath, on which Flink's JSON functions are built.

A path is ``$`` and steps: ``.name``, ``['name']``, ``['a', 'b']``, ``[0]``, ``[-1]``, ``[0, 2]``,
``[1:3]``, ``[*]``, ``.*``, ``..name``, ``..*``. Before it ``lax`` or ``strict`` says whether a
missing member is an error; it is, where nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Step = Callable[[Any], Iterator[Any]]

_MODE = re.compile(r"\s*(strict|lax)\s+(.+)", re.DOTALL)
_NAME = re.compile(r"[^.\[\]()*'\"\s]+")
_QUOTED = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")\s*([,\]])")
_SLICE = re.compile(r"\s*(-?\d*)\s*:\s*(-?\d*)\s*")
_INDEX = re.compile(r"\s*-?\d+\s*(?:,\s*-?\d+\s*)*")


class MissingError(LookupError):
    """There is nothing at a path."""


@dataclass(frozen=True)
class Path:
    """A path.

    Parameters
    ----------
    lax
        Whether what is missing is no error.
    definite
        Whether it leads to one value at most.
    steps
        What leads from a value to those inside.
    """

    lax: bool
    definite: bool
    steps: tuple[Step, ...]

    def find(self, document: Any) -> Any:
        """Return the value at a definite path, or the list of those at another.

        Raises
        ------
        MissingError
            If there is none.
        """
        values = [document]
        for step in self.steps:
            values = [inner for value in values for inner in step(value)]
            if self.definite and not values:
                raise MissingError
        return values[0] if self.definite else values


@lru_cache(maxsize=256)
def parse(text: str) -> Path:
    """Return the path of a text.

    Raises
    ------
    ValueError
        If it is none, or has a part that is not supported: filters and functions.
    """
    mode = _MODE.fullmatch(text)
    lax, spec = (mode[1] == "lax", mode[2]) if mode else (False, text)
    spec = spec.strip()
    if not spec.startswith("$"):
        spec = f"$.{spec}" if spec and not spec.startswith("@") else spec
    if not spec.startswith("$"):
        raise _invalid(text, 0)
    steps: list[Step] = []
    definite, position = True, 1
    while position < len(spec):
        step, certain, position = _step(text, spec, position)
        steps.append(step)
        definite = definite and certain
    return Path(lax, definite, tuple(steps))


def _invalid(text: str, position: int) -> ValueError:
    return ValueError(
        f"{text!r} is no path that is supported: at {text[position:]!r}. Use members, elements, "
        "slices and *, without filters and functions"
    )


def _step(text: str, spec: str, position: int) -> tuple[Step, bool, int]:
    """Return the step at a position, whether it leads to one value, and the position behind."""
    if spec.startswith("..", position):
        position += 2
        if spec.startswith("[", position):
            inner, _, end = _bracket(text, spec, position)
        else:
            inner, _, end = _name(text, spec, position)
        return _anywhere(inner), False, end
    if spec[position] == ".":
        return _name(text, spec, position + 1)
    if spec[position] == "[":
        return _bracket(text, spec, position)
    raise _invalid(text, position)


def _name(text: str, spec: str, position: int) -> tuple[Step, bool, int]:
    if spec.startswith("*", position):
        return _everything, False, position + 1
    found = _NAME.match(spec, position)
    if found is None or spec.startswith("(", found.end()):
        raise _invalid(text, position)
    return _members((found[0],)), True, found.end()


def _bracket(text: str, spec: str, position: int) -> tuple[Step, bool, int]:
    start = position + 1
    names: list[str] = []
    quoted = _QUOTED.match(spec, start)
    if quoted:
        at = start
        while True:
            part = _QUOTED.match(spec, at)
            if part is None:
                raise _invalid(text, position)
            names.append(re.sub(r"\\(.)", r"\1", part[1] if part[1] is not None else part[2]))
            at = part.end()
            if part[3] == "]":
                return _members(tuple(names)), len(names) == 1, at
    end = spec.find("]", start)
    inside = spec[start:end]
    if end < 0:
        raise _invalid(text, position)
    if inside.strip() == "*":
        return _everything, False, end + 1
    if _INDEX.fullmatch(inside):
        numbers = tuple(int(number) for number in inside.split(","))
        return _elements(numbers), len(numbers) == 1, end + 1
    bounds = _SLICE.fullmatch(inside)
    if bounds:
        first, last = (int(bound) if bound else None for bound in bounds.groups())
        return _sliced(first, last), False, end + 1
    raise _invalid(text, position)


def _everything(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _members(names: tuple[str, ...]) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            found = [name for name in names if name in value]
            if len(names) == 1:
                yield from (value[name] for name in found)
            else:
                yield {name: value[name] for name in found}

    return step


def _elements(numbers: tuple[int, ...]) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            for number in numbers:
                if -len(value) <= number < len(value):
                    yield value[number]

    return step


def _sliced(first: int | None, last: int | None) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value[first:last]

    return step


def _anywhere(inner: Step) -> Step:
    def step(value: Any) -> Iterator[Any]:
        yield from inner(value)
        for child in _everything(value):
            yield from step(child)

    return step
