"""How a changed program goes on from its checkpoint.

Spark knows the sources of a query by their order, and state has the numbers of operators. A changed
program may have both in another order. So the manifest of the checkpoint describes them, and what
the program has is looked for there.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from pyflow.datastream.connectors.base import Boundedness
from pyflow.datastream.graph.components import Component, levels_of
from pyflow.datastream.graph.manifest import (
    WAY_OUT,
    IncompatibleProgramError,
    Manifest,
    OperatorEntry,
    SourceEntry,
)
from pyflow.datastream.graph.transformations import (
    Chained,
    Input,
    SinkOf,
    SourceOf,
    Stateful,
)

__all__ = ["Fitted", "fitted", "places_of"]

_logger = logging.getLogger(__name__)


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
    programs: Mapping[int, Manifest],
    kept: Mapping[int, Manifest],
    committed: Collection[int],
    ignores_unclaimed: bool,
    others: Mapping[int, Manifest] = MappingProxyType({}),
) -> dict[int, int]:
    """Return which checkpoint each query of a program goes on from, or begins.

    It is that of the query which has most in common with it.

    Parameters
    ----------
    programs
        Those of the queries, as if there were no checkpoints, by their numbers in the program.
    kept
        Those of the checkpoints, by their numbers.
    committed
        The numbers of those that have state.
    ignores_unclaimed
        Whether state may be given up whose operators are gone.
    others
        Those of checkpoints of jobs with other names.

    Raises
    ------
    IncompatibleProgramError
        If there is state that no query has, or it is not certain which query has it.
    """
    _refuse_uncertain_queries(programs.values(), kept.values())
    found: dict[int, int] = {}

    def likeness(pair: tuple[int, int]) -> tuple[tuple[int, ...], bool]:
        number, place = pair
        return kept[place].likeness(programs[number]), number == place

    for pair in sorted(itertools.product(programs, kept), key=likeness, reverse=True):
        number, place = pair
        if any(likeness(pair)[0]) and number not in found and place not in found.values():
            found[number] = place
    for number in programs.keys() - found.keys():
        # What it reads may be all that has changed.
        is_free = number in kept and number not in found.values()
        if is_free and not kept[number].is_another(programs[number]):
            found[number] = number
    for number in programs.keys() - found.keys():
        _refuse_renamed(programs[number], others.values())
    gone = set(committed) - set(found.values())
    unclaimed = [each for place in gone for each in kept[place].operators]
    if unclaimed and not ignores_unclaimed:
        raise _gone(unclaimed)
    free = (each for each in itertools.count() if each not in kept and each not in others)
    for number in sorted(programs.keys() - found.keys()):
        found[number] = next(free)
    return found


def _refuse_renamed(program: Manifest, others: Iterable[Manifest]) -> None:
    """Refuse to begin a query anew that may be one of a job which had another name."""
    for other in others:
        if any(other.likeness(program)):
            raise IncompatibleProgramError(
                f"This is the job {program.job!r}, and the checkpoint is of the job {other.job!r} "
                f"with the same sources or operators. Call it {other.job!r} in execute() to resume "
                f"from there. {WAY_OUT}"
            )


def _refuse_uncertain_queries(programs: Iterable[Manifest], kept: Iterable[Manifest]) -> None:
    """Refuse queries without uids of which there are more or fewer with the same contents."""
    known, found = (
        _groups(
            (each for each in manifests if not each.uids),
            lambda each: frozenset(each.contents.items()),
        )
        for manifests in (kept, programs)
    )
    for contents in known.keys() & found.keys():
        if len(known[contents]) != len(found[contents]):
            sources = ", ".join(map(str, found[contents][0].sources))
            raise IncompatibleProgramError(
                f"It is not known which checkpoint is whose: this program has "
                f"{len(found[contents])} queries with the same operators over {sources}, and there "
                f"are {len(known[contents])} checkpoints of such queries. Give the operators of "
                f"new ones a uid(). {WAY_OUT}"
            )


def fitted(
    component: Component,
    parallelism: int,
    before: Manifest | None = None,
    ignores_unclaimed: bool = False,
    job: str | None = None,
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
    job
        The name of the job, where it is known.

    Raises
    ------
    IncompatibleProgramError
        If it cannot go on from the checkpoint.
    """
    if before is None:
        sources = sorted(component.of(SourceOf), key=_creation)
        return _Operators(component, sources, Manifest(parallelism), False).fitted(job)
    sources = _Sources(before.sources).ordered(component.of(SourceOf))
    stages = max((each.stage for each in before.operators), default=0)
    deepest = max(levels_of(component).values(), default=0)
    if stages != deepest:
        raise IncompatibleProgramError(
            f"The checkpoint is of a program with {stages} stages behind shuffles, and this one "
            f"has {deepest}. {WAY_OUT}"
        )
    if deepest and before.ends not in (None, _ends(component)):
        one, other = ("ends", "does not end")[:: 1 if before.ends else -1]
        raise IncompatibleProgramError(
            f"The checkpoint is of a program that {one}, as all of its sources do, and this one "
            f"{other}. {WAY_OUT}"
        )
    _refuse_other_stops(sources, before)
    found = _Operators(component, sources, before, ignores_unclaimed).fitted(job)
    if not found.manifest.may_succeed(before):
        raise IncompatibleProgramError(
            f"The checkpoint is of a job with the same name that writes to "
            f"{', '.join(before.sinks)}, and this one writes to {', '.join(found.manifest.sinks)}: "
            "it may be another job, which would take over its position in the sources. Give it "
            "another name in execute() and another execution.checkpointing.dir. If it is the same "
            "job, have it keep one of its sinks, or give its operators a uid() while it does."
        )
    return found


def _refuse_other_stops(sources: Sequence[SourceOf], before: Manifest) -> None:
    """Refuse sources that end elsewhere: what was behind their end has been passed."""
    for each, entry in zip(sources, before.sources):
        assert each.source is not None
        if entry.stops_at and each.source.stop != entry.stop:
            raise IncompatibleProgramError(
                f"In the checkpoint the source {entry} ends at: {entry.stop}. What follows was "
                f"left out, so it cannot go on to another end: "
                f"{each.source.stop or 'none'}. {WAY_OUT}"
            )


def _ends(component: Component) -> bool:
    sources: list[SourceOf] = component.of(SourceOf)
    return all(
        each.source.ends
        for each in sources
        if each.source and each.source.boundedness() == Boundedness.CONTINUOUS_UNBOUNDED
    )


def _gone(operators: Iterable[OperatorEntry]) -> IncompatibleProgramError:
    return IncompatibleProgramError(
        "The checkpoint has state of operators that this program does not have: "
        f"{', '.join(map(str, operators))}. Give operators the uid() that they had; those without "
        "one are known by what they do, their name(), and the sources and operators with state "
        "before them. Or set execution.state-recovery.ignore-unclaimed-state to true to give the "
        "state up."
    )


def _entry(each: SourceOf) -> SourceEntry:
    assert each.source is not None
    is_bounded = each.source.boundedness() == Boundedness.BOUNDED
    kind = f"bounded {each.source.kind}" if is_bounded else each.source.kind
    return SourceEntry(
        each.uid, kind, each.source.reads, origin=each.source.origin, stop=each.source.stop
    )


def _sink(each: SinkOf) -> str:
    assert each.sink is not None
    return f"{type(each.sink).__name__} {each.sink.writes}".rstrip()


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
                f"{len(sources)}. {WAY_OUT}"
            )
        self._missing = list(sources)
        self._match(lambda each: each.uid)
        if any(each.kind is None for each in before):
            # Older versions did not say what sources read: they have their order.
            self._match(lambda each: True)
        else:
            self._missing.sort(key=_creation)
            self._match(lambda each: each.content)
            # What is left of a kind alone may read something else now.
            self._match(lambda each: each.kind, at_most=1)
        if self._missing:
            self._refuse(self._missing)
        return [self._found[place] for place in range(len(before))]

    def _match(self, identity: Callable[[SourceEntry], Hashable], at_most: int = 0) -> None:
        """Match those that are known by the same, in their order."""
        before = self._before
        left = [place for place in range(len(before)) if place not in self._found]
        left.sort(key=lambda place: before[place].rank)
        known = _groups(left, lambda place: identity(before[place]))
        for key, found in _groups(self._missing, lambda each: identity(_entry(each))).items():
            places = known.get(key, [])
            if key is None or not places:
                continue
            if len(places) != len(found) or len(found) > (at_most or len(found)):
                self._refuse(found)
            for place, each in self._paired(places, found):
                if not _continues(each, before[place]):
                    self._refuse([each])
                self._found[place] = each
                self._missing.remove(each)

    def _paired(
        self, places: Sequence[int], found: Sequence[SourceOf]
    ) -> list[tuple[int, SourceOf]]:
        """Return those that are known by the same with what they are, by their origins if known."""
        before = [self._before[place].origin for place in places]
        now = [_entry(each).origin for each in found]
        if all(before) and all(now) and len(found) > 1:
            if sorted(before) != sorted(now):
                self._refuse(found)
            places = [place for _, _, place in sorted(zip(before, itertools.count(), places))]
            found = [each for _, _, each in sorted(zip(now, itertools.count(), found))]
        elif all(before) and before != now:
            _logger.warning(
                "%s has read from %s and reads from %s now, from the offsets of the former.",
                _entry(found[0]),
                before[0],
                now[0] or "elsewhere",
            )
        return list(zip(places, found))

    def _refuse(self, sources: Sequence[SourceOf]) -> None:
        left = (each for place, each in enumerate(self._before) if place not in self._found)
        raise IncompatibleProgramError(
            f"These sources of the program are none of the checkpoint's, or it is not known which: "
            f"{', '.join(str(_entry(each)) for each in sources)}. The checkpoint has: "
            f"{', '.join(map(str, left))}. Have them read what they read before, and give sources "
            f"the uid() that they had. {WAY_OUT}"
        )


def _continues(source: SourceOf, before: SourceEntry) -> bool:
    """Return whether a source goes on where one of a checkpoint stopped."""
    now = _entry(source)
    if before.uid and now.uid and before.uid != now.uid:
        return False
    assert source.source is not None
    same_kind = before.kind in (None, now.kind)
    is_same = before.kind is None or before.reads == now.reads
    return same_kind and (is_same or source.source.continues(before.reads))


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

    def fitted(self, job: str | None) -> Fitted:
        """Return the program with the numbers of its operators."""
        last = self._before.last
        entries: dict[int, OperatorEntry] = {}
        levels = levels_of(self._component)
        operators: list[Stateful] = self._component.of(Stateful)
        by_stage = _groups(operators, lambda each: levels[each.number])
        for stage in range(1, len(by_stage) + 1):
            described = {
                each.number: self._described(each, stage)
                for each in sorted(by_stage[stage], key=_creation)
            }
            found = self._claimed(described, [each.number for each in operators])
            for number, entry in described.items():
                last += number not in found
                kept = found[number].number if number in found else last
                entries[number] = replace(entry, number=kept)
                self._names[number] = f"operator {kept}"
        if self._unclaimed and not self._ignores_unclaimed:
            raise _gone(self._unclaimed)
        ranks = sorted(each.number for each in self._sources)
        is_bounded = all(
            each.source is None or each.source.boundedness() == Boundedness.BOUNDED
            for each in self._sources
        )
        sources = tuple(
            replace(
                _entry(each),
                rank=ranks.index(each.number),
                digest="" if is_bounded or each.source is None else each.source.digest(),
                stops_at="" if before is None else before.stops_at,
            )
            for each, before in itertools.zip_longest(self._sources, self._before.sources)
        )
        sinks = tuple(sorted({_sink(each) for each in self._component.of(SinkOf)}))
        manifest = Manifest(
            self._before.parallelism,
            sources,
            tuple(entries.values()),
            last,
            _ends(self._component),
            job,
            sinks,
        )
        numbers = {number: each.number for number, each in entries.items()}
        return Fitted(manifest, [each.number for each in self._sources], numbers)

    def _described(self, each: Stateful, stage: int) -> OperatorEntry:
        assert each.make is not None
        functions = ", ".join(map(_name, each.make(is_batch=False).user_functions))
        inputs = tuple(self._origins(entry) for entry in each.inputs())
        return OperatorEntry(0, each.uid, stage, each.name, each.operation, inputs, functions)

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

    def _claimed(
        self, entries: Mapping[int, OperatorEntry], order: Sequence[int]
    ) -> dict[int, OperatorEntry]:
        """Return the operators of a stage as the checkpoint has them, if they are there.

        Parameters
        ----------
        entries
            The operators, by the numbers of the transformations.
        order
            Those of all operators.
        """
        found: dict[int, OperatorEntry] = {}

        def claim(number: int, before: OperatorEntry, *attributes: str) -> None:
            before.check(entries[number], ("stage", "operation", *attributes))
            found[number] = before
            self._unclaimed.remove(before)

        for number, entry in entries.items():
            for before in list(self._unclaimed):
                if entry.uid is not None and before.uid == entry.uid:
                    claim(number, before)
                elif entry.uid is None and before.position == order.index(number) + 1:
                    # Older versions knew it by its position.
                    claim(number, before, "name")
        if self._is_older:
            return found
        groups = _groups(
            (number for number, each in entries.items() if each.uid is None),
            lambda number: entries[number].content,
        )
        for content, numbers in groups.items():
            known = [each for each in self._unclaimed if not each.uid and each.content == content]
            if len(known) == len(numbers) == 1:
                claim(numbers[0], known[0])
                continue
            same = _groups(known, lambda each: each.functions)
            for functions, those in _groups(numbers, lambda n: entries[n].functions).items():
                before_those = same.get(functions, [])
                if before_those and len(before_those) != len(those):
                    raise IncompatibleProgramError(
                        f"It is not known which state is whose: this program has {len(those)} "
                        f"operators {entries[those[0]]} of {functions} without a uid() behind the "
                        f"same streams, and the checkpoint has {len(before_those)}. Give new ones "
                        f"a uid(). {WAY_OUT}"
                    )
                for number, before in zip(those, before_those):
                    claim(number, before)
        return found


def _name(function: Any) -> str:
    """Return the name of a function, or of the class of one."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return str(named.__qualname__)
