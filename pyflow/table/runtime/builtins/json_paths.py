"""Paths into JSON, in the language of Jayway's JsonPath, on which Flink's JSON functions are built.

A path is ``$`` and steps: ``.name``, ``['name']``, ``['a', 'b']``, ``[0]``, ``[-1]``, ``[0, 2]``,
``[1:3]``, ``[*]``, ``.*``, ``..name``, ``..*``. Before it ``lax`` or ``strict`` says whether a
missing member is an error; the default is ``strict``, where it is.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_MODE = re.compile(r"\s*(strict|lax)\s+(.+)", re.DOTALL)
_NAME = re.compile(r"[^.\[\]()*'\"\s]+")
_QUOTED = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")\s*([,\]])")
_SLICE = re.compile(r"\s*(-?\d*)\s*:\s*(-?\d*)\s*")
_INDEX = re.compile(r"\s*-?\d+\s*(?:,\s*-?\d+\s*)*")


class MissingError(LookupError):
    """There is nothing at a path."""


class Step(ABC):
    """What leads from a value to those inside."""

    definite = False

    @abstractmethod
    def find(self, value: Any, required: bool, leaf: bool) -> Iterator[Any]:
        """Return the values inside.

        Parameters
        ----------
        value
            A value.
        required
            Whether all steps before lead to one value, so that one that cannot have such values
            inside is an error.
        leaf
            Whether this is the last step.

        Raises
        ------
        MissingError
            If there must be a value.
        """


@dataclass(frozen=True)
class Path:
    """A path.

    Parameters
    ----------
    lax
        Whether what is missing is no error.
    steps
        What leads from a value to those inside.
    """

    lax: bool
    steps: tuple[Step, ...]

    @property
    def definite(self) -> bool:
        """Whether it leads to one value at most."""
        return all(step.definite for step in self.steps)

    def find(self, document: Any) -> Any:
        """Return the value at a definite path, or the list of those at another.

        Raises
        ------
        MissingError
            If there is no such value.
        """
        values = [document]
        required = True
        for step in self.steps:
            leaf = step is self.steps[-1]
            values = [inner for value in values for inner in step.find(value, required, leaf)]
            required = required and step.definite
        if required and not values:
            raise MissingError
        return values[0] if required else values


@lru_cache(maxsize=256)
def parse(text: str) -> Path:
    """Return the path that a string describes.

    Raises
    ------
    ValueError
        If it is not a path, or has a part that is not supported: filters and functions.
    """
    mode = _MODE.fullmatch(text)
    lax, spec = (mode[1] == "lax", mode[2]) if mode else (False, text)
    spec = spec.strip()
    if not spec.startswith("$"):
        spec = f"$.{spec}" if spec and not spec.startswith("@") else spec
    if not spec.startswith("$"):
        raise _invalid(text, 0)
    steps: list[Step] = []
    position = 1
    while position < len(spec):
        step, position = _step(text, spec, position)
        steps.append(step)
    last = steps[-1] if steps else None
    if isinstance(last, _Members):
        steps[-1] = _Members(last.names, last=True)
    return Path(lax, tuple(steps))


def _invalid(text: str, position: int) -> ValueError:
    return ValueError(
        f"{text!r} is no path that is supported: at {text[position:]!r}. Use members, elements, "
        "slices and *, without filters and functions"
    )


def _step(text: str, spec: str, position: int) -> tuple[Step, int]:
    """Return the step at a position, and the position behind it."""
    if spec.startswith("..", position):
        position += 2
        read = _bracket if spec.startswith("[", position) else _name
        inner, end = read(text, spec, position)
        return _Anywhere(inner), end
    if spec[position] == ".":
        return _name(text, spec, position + 1)
    if spec[position] == "[":
        return _bracket(text, spec, position)
    raise _invalid(text, position)


def _name(text: str, spec: str, position: int) -> tuple[Step, int]:
    if spec.startswith("*", position):
        return _Everything(), position + 1
    found = _NAME.match(spec, position)
    if found is None or spec.startswith("(", found.end()):
        raise _invalid(text, position)
    return _Members((found[0],)), found.end()


def _bracket(text: str, spec: str, position: int) -> tuple[Step, int]:
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
                return _Members(tuple(names)), at
    end = spec.find("]", start)
    inside = spec[start:end]
    if end < 0:
        raise _invalid(text, position)
    if inside.strip() == "*":
        return _Everything(), end + 1
    if _INDEX.fullmatch(inside):
        return _Elements(tuple(int(number) for number in inside.split(","))), end + 1
    bounds = _SLICE.fullmatch(inside)
    if bounds:
        first, last = (int(bound) if bound else None for bound in bounds.groups())
        return _Slice(first, last), end + 1
    raise _invalid(text, position)


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


class _Everything(Step):
    def find(self, value: Any, required: bool, leaf: bool) -> Iterator[Any]:
        return _inside(value)


class _Members(Step):
    """Members of an object; at the end of a path several of them are one object."""

    def __init__(self, names: tuple[str, ...], last: bool = False) -> None:
        self.names = names
        self.definite = len(names) == 1 or last
        self.merged = len(names) > 1 and last

    def find(self, value: Any, required: bool, leaf: bool) -> Iterator[Any]:
        if not isinstance(value, dict):
            if required:
                raise MissingError
            return
        found = {name: value[name] for name in self.names if name in value}
        if self.merged:
            yield found
            return
        if required and self.definite and not found and not leaf:
            raise MissingError
        yield from found.values()


class _OfArray(Step):
    """A step into an array."""

    def find(self, value: Any, required: bool, leaf: bool) -> Iterator[Any]:
        if isinstance(value, list):
            yield from self.chosen(value)
        elif required:
            raise MissingError

    @abstractmethod
    def chosen(self, array: list[Any]) -> Iterator[Any]:
        """Return elements of an array."""


class _Elements(_OfArray):
    def __init__(self, numbers: tuple[int, ...]) -> None:
        self.numbers = numbers
        self.definite = len(numbers) == 1

    def chosen(self, array: list[Any]) -> Iterator[Any]:
        for number in self.numbers:
            if -len(array) <= number < len(array):
                yield array[number]


class _Slice(_OfArray):
    def __init__(self, first: int | None, last: int | None) -> None:
        self.bounds = slice(first, last)

    def chosen(self, array: list[Any]) -> Iterator[Any]:
        yield from array[self.bounds]


class _Anywhere(Step):
    """A step from a value, and from all values inside it."""

    def __init__(self, inner: Step) -> None:
        self.inner = inner

    def find(self, value: Any, required: bool, leaf: bool) -> Iterator[Any]:
        yield from self.inner.find(value, False, leaf)
        for child in _inside(value):
            yield from self.find(child, False, leaf)
