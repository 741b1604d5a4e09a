"""What of a program stands in its checkpoint, and how a changed program goes on from that.

Spark knows the sources of a query by their order, and state has the numbers of operators. A changed
program may have both in another order. So the checkpoint describes them, and what a program has is
looked for there.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from pyflow.datastream.graph.components import Component, levels_of
from pyflow.datastream.graph.transformations import Chained, Input, SourceOf, Stateful
from pyflow.util.exceptions import TableException

__all__ = ["Fitted", "IncompatibleProgramError", "Manifest", "fitted", "places_of"]

_WAY_OUT = "Start it with another execution.checkpointing.dir, without the state."
_UID = "uid "


class IncompatibleProgramError(TableException):
    """A program cannot go on from a checkpoint; the checkpoint is as it was."""


@dataclass(frozen=True)
class SourceEntry:
    """A source.

    Parameters
    ----------
    uid
        That the program gives it.
    kind
        What kind of source it is; None in checkpoints of older versions.
    reads
        What it reads.
    """

    uid: str | None
    kind: str | None = None
    reads: str = ""

    def __str__(self) -> str:
        parts = [self.kind or "source"]
        if self.reads:
            parts.append(f"of {self.reads}")
        return " ".join(parts if self.uid is None else [*parts, f"({_UID}{self.uid})"])

    @property
    def content(self) -> tuple[str | None, str]:
        """Return what it is known by without a uid."""
        return self.kind, self.reads


@dataclass(frozen=True)
class OperatorEntry:
    """An operator with state.

    Parameters
    ----------
    number
        In the state.
    uid
        That the program gives it.
    stage
        How many shuffles are before what it emits.
    name
        Of the operator.
    operation
        What it does, which decides what state it has.
    inputs
        For each of its inputs: the sources and the operators with state that elements come from,
        with what they have in this checkpoint; None in checkpoints of older versions.
    """

    number: int
    uid: str | None
    stage: int
    name: str
    operation: str
    inputs: tuple[tuple[str, ...], ...] | None

    def __str__(self) -> str:
        return f"'{self.name}'" if self.uid is None else f"'{self.name}' ({_UID}{self.uid})"

    @property
    def content(self) -> tuple[Hashable, ...]:
        """Return what it is known by without a uid."""
        return self.stage, self.name, self.operation, self.inputs

    def check(self, program: OperatorEntry, attributes: Sequence[str]) -> None:
        """Refuse an operator of a program that is another one."""
        for about in attributes:
            before, now = getattr(self, about), getattr(program, about)
            # Older versions did not say what windows keep.
            is_older = self.inputs is None and f"{now}".startswith(f"{before}".rstrip(")") + ",")
            if before != now and not (about == "operation" and is_older):
                raise IncompatibleProgramError(
                    f"Operator {program} is of another {about} than in the checkpoint: {now}, "
                    f"where that has {before}. Give operators whose state is kept a uid(), and "
                    f"others another one. {_WAY_OUT}"
                )


@dataclass(frozen=True)
class Manifest:
    """What of a program stands in its checkpoint.

    Parameters
    ----------
    parallelism
        Of all operators with state.
    sources
        In their order in the query.
    operators
        Those with state.
    last
        The largest number that an operator has had.
    """

    parallelism: int
    sources: tuple[SourceEntry, ...] = ()
    operators: tuple[OperatorEntry, ...] = ()
    last: int = 0

    @staticmethod
    def from_json(found: dict[str, Any]) -> Manifest:
        """Return what `to_json` of this version, or an older one, has made."""
        operators = found["operators"]
        if isinstance(operators, dict):
            return Manifest(
                found["parallelism"],
                tuple(SourceEntry(_uid(each)) for each in found["sources"]),
                tuple(
                    OperatorEntry(uid=_uid(identity), inputs=None, **each)
                    for identity, each in operators.items()
                ),
                max((each["number"] for each in operators.values()), default=0),
            )
        return Manifest(
            found["parallelism"],
            tuple(SourceEntry(**each) for each in found["sources"]),
            tuple(
                OperatorEntry(**{**each, "inputs": each["inputs"] and _inputs(each["inputs"])})
                for each in operators
            ),
            found["last"],
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON."""
        return asdict(self)

    def likeness(self, component: Component) -> tuple[int, int]:
        """Return how many uids, and how many sources, a component has in common with this."""
        uids = {each.uid for each in self.sources} | {each.uid for each in self.operators}
        known = Counter(each.content for each in self.sources)
        found = Counter(_entry(each).content for each in component.of(SourceOf))
        given = {each.uid for each in component.transformations} & uids - {None}
        return len(given), (known & found).total()


def _uid(identity: str) -> str | None:
    return identity.removeprefix(_UID) if identity.startswith(_UID) else None


def _inputs(found: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, found))


def _entry(each: SourceOf) -> SourceEntry:
    assert each.source is not None
    return SourceEntry(each.uid, each.source.kind, each.source.reads)


@dataclass(frozen=True)
class Fitted:
    """A program with what it has in its checkpoint.

    Parameters
    ----------
    manifest
        That of the program.
    sources
        The numbers of the transformations that are sources, in their order in the query.
    numbers
        Those of operators with state, by the numbers of the transformations.
    """

    manifest: Manifest
    sources: list[int]
    numbers: dict[int, int]


def places_of(
    components: Mapping[int, Component], kept: Mapping[int, Manifest], ignores_unclaimed: bool
) -> dict[int, int]:
    """Return which checkpoint each component of a program goes on from, or begins.

    It is that of the component which has most in common with it.

    Parameters
    ----------
    components
        By their numbers in the program.
    kept
        What checkpoints there are, by their numbers.
    ignores_unclaimed
        Whether state may be given up whose operators are gone.

    Raises
    ------
    IncompatibleProgramError
        If there is state that no component has.
    """
    found: dict[int, int] = {}

    def likeness(pair: tuple[int, int]) -> tuple[tuple[int, int], bool]:
        number, place = pair
        return kept[place].likeness(components[number]), number == place

    for pair in sorted(itertools.product(components, kept), key=likeness, reverse=True):
        number, place = pair
        if any(likeness(pair)[0]) and number not in found and place not in found.values():
            found[number] = place
    for number in components.keys() - found.keys():
        if number in kept and number not in found.values():
            found[number] = number
    unclaimed = [each for place in kept.keys() - found.values() for each in kept[place].operators]
    if unclaimed and not ignores_unclaimed:
        raise _gone(unclaimed)
    free = (each for each in itertools.count() if each not in kept)
    for number in sorted(components.keys() - found.keys()):
        found[number] = next(free)
    return found


def fitted(
    component: Component,
    parallelism: int,
    before: Manifest | None = None,
    ignores_unclaimed: bool = False,
) -> Fitted:
    """Return a program with what it has in its checkpoint.

    Parameters
    ----------
    component
        The program.
    parallelism
        Of a program that has no checkpoint yet.
    before
        That of the checkpoint, if there is one.
    ignores_unclaimed
        Whether state may be given up whose operator is gone.

    Raises
    ------
    IncompatibleProgramError
        If it cannot go on from the checkpoint.
    """
    if before is None:
        sources = sorted(component.of(SourceOf), key=_creation)
        return _Operators(component, sources, Manifest(parallelism), False).fitted()
    sources = _Sources(before.sources).ordered(component.of(SourceOf))
    stages = max((each.stage for each in before.operators), default=0)
    deepest = max(levels_of(component).values(), default=0)
    if stages != deepest:
        raise IncompatibleProgramError(
            f"The checkpoint is of a program with {stages} stages behind shuffles, and this one "
            f"has {deepest}. {_WAY_OUT}"
        )
    return _Operators(component, sources, before, ignores_unclaimed).fitted()


def _gone(operators: Iterable[OperatorEntry]) -> IncompatibleProgramError:
    return IncompatibleProgramError(
        "The checkpoint has state of operators that this program does not have: "
        f"{', '.join(map(str, operators))}. Give operators the uid() that they had; those without "
        "one are known by what they do, their name(), and the sources and operators with state "
        "before them. Or set execution.state-recovery.ignore-unclaimed-state to true to give the "
        "state up."
    )


def _creation(each: SourceOf | Stateful) -> int:
    return each.number


T = TypeVar("T")


def _groups(values: Iterable[T], identity: Callable[[T], Hashable]) -> dict[Hashable, list[T]]:
    """Return values by what they are known by."""
    groups: dict[Hashable, list[T]] = {}
    for each in values:
        groups.setdefault(identity(each), []).append(each)
    return groups


class _Sources:
    """The sources of a checkpoint, which are looked for in a program."""

    def __init__(self, before: Sequence[SourceEntry]) -> None:
        self._before = before
        self._found: dict[int, SourceOf] = {}
        self._missing: list[SourceOf] = []

    def ordered(self, sources: Sequence[SourceOf]) -> list[SourceOf]:
        """Return the sources of a program in the order of the checkpoint."""
        before = self._before
        if len(before) != len(sources):
            raise IncompatibleProgramError(
                f"The checkpoint is of a program with {len(before)} sources, and this one has "
                f"{len(sources)}. {_WAY_OUT}"
            )
        self._missing = list(sources)
        self._match(lambda each: each.uid)
        if any(each.kind is None for each in before):
            # Older versions did not say what sources read: they have their order.
            self._match(lambda each: True)
        else:
            self._missing.sort(key=_creation)
            self._match(lambda each: each.content)
            # What is left of a kind alone reads something else now.
            self._match(lambda each: each.kind, at_most=1)
        if self._missing:
            self._refuse(self._missing)
        return [self._found[place] for place in range(len(before))]

    def _match(self, identity: Callable[[SourceEntry], Hashable], at_most: int = 0) -> None:
        """Match those that are known by the same, in their order."""
        left = [place for place in range(len(self._before)) if place not in self._found]
        known = _groups(left, lambda place: identity(self._before[place]))
        for key, found in _groups(self._missing, lambda each: identity(_entry(each))).items():
            places = known.get(key, [])
            if key is None or not places:
                continue
            if len(places) != len(found) or len(found) > (at_most or len(found)):
                self._refuse(found)
            for place, each in zip(places, found):
                if self._before[place].kind not in (None, _entry(each).kind):
                    self._refuse([each])
                self._found[place] = each
                self._missing.remove(each)

    def _refuse(self, sources: Sequence[SourceOf]) -> None:
        left = (each for place, each in enumerate(self._before) if place not in self._found)
        raise IncompatibleProgramError(
            f"It is not known which of the checkpoint's sources are these of the program: "
            f"{', '.join(str(_entry(each)) for each in sources)}. The checkpoint has: "
            f"{', '.join(map(str, left))}. Have them read what they read before, or give sources "
            f"the uid() that they had. {_WAY_OUT}"
        )


class _Operators:
    """The operators of a program, which are looked for in a checkpoint."""

    def __init__(
        self,
        component: Component,
        sources: Sequence[SourceOf],
        before: Manifest,
        ignores_unclaimed: bool,
    ) -> None:
        self._component = component
        self._sources = sources
        self._before = before
        self._ignores_unclaimed = ignores_unclaimed
        # By the numbers of transformations.
        self._names = {each.number: f"source {place}" for place, each in enumerate(sources, 1)}
        self._unclaimed = list(before.operators)
        self._is_older = any(each.inputs is None for each in before.operators)

    def fitted(self) -> Fitted:
        """Return the program with the numbers of its operators."""
        last = self._before.last
        numbers: dict[int, int] = {}
        entries = []
        levels = levels_of(self._component)
        operators: list[Stateful] = self._component.of(Stateful)
        order = sorted(operators, key=lambda each: (levels[each.number], each.number))
        for each in order:
            stage = levels[each.number]
            inputs = tuple(self._origins(entry) for entry in each.inputs())
            entry = OperatorEntry(0, each.uid, stage, each.name, each.operation, inputs)
            before = self._claimed(entry, operators.index(each))
            if before is None:
                last += 1
            numbers[each.number] = last if before is None else before.number
            entries.append(replace(entry, number=numbers[each.number]))
            self._names[each.number] = f"operator {numbers[each.number]}"
        self._refuse_uncertain(entries)
        if self._unclaimed and not self._ignores_unclaimed:
            raise _gone(self._unclaimed)
        described = tuple(map(_entry, self._sources))
        manifest = Manifest(self._before.parallelism, described, tuple(entries), last)
        return Fitted(manifest, [each.number for each in self._sources], numbers)

    def _origins(self, entry: Input) -> tuple[str, ...]:
        """Return the sources and the operators with state that elements come from."""
        found = set()
        for output in entry.outputs:
            tag = "" if output.tag is None else f", {output.tag}"
            if isinstance(output.of, Chained):
                (before,) = output.of.inputs()
                found |= {f"{each}{tag}" for each in self._origins(before)}
            else:
                found.add(f"{self._names[output.of.number]}{tag}")
        return tuple(sorted(found))

    def _claimed(self, entry: OperatorEntry, position: int) -> OperatorEntry | None:
        """Return an operator as the checkpoint has it, if it is there."""
        if entry.uid is not None:
            found = [each for each in self._unclaimed if each.uid == entry.uid]
        elif self._is_older:
            # Older versions knew it by its position among all operators with state.
            found = [
                each for each in self._before.operators[position : position + 1] if not each.uid
            ]
        else:
            found = [
                each for each in self._unclaimed if not each.uid and each.content == entry.content
            ]
        if not found:
            return None
        before = found[0]
        before.check(entry, ("stage", "operation") if entry.uid else ("stage", "operation", "name"))
        self._unclaimed.remove(before)
        return before

    def _refuse_uncertain(self, entries: Sequence[OperatorEntry]) -> None:
        """Refuse operators without a uid of which the checkpoint has more or fewer."""
        if self._is_older:
            return
        known, found = (
            Counter(each.content for each in all_entries if each.uid is None)
            for all_entries in (self._before.operators, entries)
        )
        for content in known.keys() & found.keys():
            if known[content] != found[content]:
                raise IncompatibleProgramError(
                    f"It is not known which state is whose: this program has {found[content]} "
                    f"operators {content[1]!r} without a uid() behind the same streams, and the "
                    f"checkpoint has {known[content]}. Give new ones a uid(). {_WAY_OUT}"
                )
