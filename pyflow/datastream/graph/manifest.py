"""What of a program stands in its checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyflow.util.exceptions import TableException

__all__ = ["WAY_OUT", "IncompatibleProgramError", "Manifest", "OperatorEntry", "SourceEntry"]

#: What errors end with.
WAY_OUT = "Start it with another execution.checkpointing.dir, without the state."
_UID = "uid "
_POSITION = "position "


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
    rank
        Its position among the sources of the program, in the order in which they were made.
    digest
        Of its elements, where the program has them.
    origin
        Which of several places it reads that from.
    stop
        What it ends at, if it is unbounded and ends, in words.
    stops_at
        The position that this meant when the source was read first; empty where it ends with what
        there is.
    """

    uid: str | None
    kind: str | None = None
    reads: str = ""
    rank: int = 0
    digest: str = ""
    origin: str = ""
    stop: str = ""
    stops_at: str = ""

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
    functions
        The names of its functions.
    position
        Among all operators with state, in checkpoints of older versions: it had no uid.
    """

    number: int
    uid: str | None
    stage: int
    name: str
    operation: str
    inputs: tuple[tuple[str, ...], ...] | None
    functions: str = ""
    position: int | None = None

    def __str__(self) -> str:
        return f"'{self.name}'" if self.uid is None else f"'{self.name}' ({_UID}{self.uid})"

    @property
    def content(self) -> tuple[Hashable, ...]:
        """Return what it is known by without a uid; its functions where others have the same."""
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
                    f"others another one. {WAY_OUT}"
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
    ends
        Whether its query ends with what there is when it starts; None in checkpoints of older
        versions.
    job
        The name of the job; None in checkpoints of older versions.
    sinks
        What the query writes to; empty in checkpoints of older versions.
    """

    parallelism: int
    sources: tuple[SourceEntry, ...] = ()
    operators: tuple[OperatorEntry, ...] = ()
    last: int = 0
    ends: bool | None = None
    job: str | None = None
    sinks: tuple[str, ...] = ()

    @staticmethod
    def from_json(found: dict[str, Any]) -> Manifest:
        """Return what `to_json` of this version, or an older one, has made."""
        operators = found["operators"]
        if isinstance(operators, dict):
            return Manifest(
                found["parallelism"],
                tuple(SourceEntry(_uid(each)) for each in found["sources"]),
                tuple(
                    OperatorEntry(
                        uid=_uid(identity), inputs=None, position=_position(identity), **each
                    )
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
            found.get("ends"),
            found.get("job"),
            tuple(found.get("sinks", ())),
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON."""
        return asdict(self)

    @property
    def uids(self) -> set[str]:
        """Return the uids of sources and operators."""
        given = {each.uid for each in self.sources} | {each.uid for each in self.operators}
        return {each for each in given if each is not None}

    @property
    def contents(self) -> Counter[Hashable]:
        """Return what the query is known by without uids, of sources and operators."""
        sources = (each.content for each in self.sources)
        return Counter([*sources, *(each.content[:3] for each in self.operators)])

    def is_another(self, other: Manifest) -> bool:
        """Return whether two queries have other uids and read other things."""
        read = {each.content for each in self.sources}
        return (
            bool(self.uids and other.uids)
            and self.uids.isdisjoint(other.uids)
            and read.isdisjoint(each.content for each in other.sources)
        )

    def may_succeed(self, before: Manifest) -> bool:
        """Return whether a query is a later version of another, and not one of another job.

        Without uids and state it has only its sinks by which it is known; older versions did not
        say what these are.
        """
        return (
            not before.sinks
            or not self.sinks
            or not set(self.sinks).isdisjoint(before.sinks)
            or not self.uids.isdisjoint(before.uids)
            or self.likeness(before)[2] > 0
        )

    def likeness(self, other: Manifest) -> tuple[int, int, int]:
        """Return how many uids, contents and functions a query has in common with another."""
        if self.is_another(other):
            return 0, 0, 0
        functions, others = (
            Counter((*each.content[:3], each.functions) for each in manifest.operators)
            for manifest in (self, other)
        )
        return (
            len(self.uids & other.uids),
            (self.contents & other.contents).total(),
            (functions & others).total(),
        )


def _uid(identity: str) -> str | None:
    return identity.removeprefix(_UID) if identity.startswith(_UID) else None


def _position(identity: str) -> int | None:
    return None if identity.startswith(_UID) else int(identity.removeprefix(_POSITION))


def _inputs(found: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, found))
