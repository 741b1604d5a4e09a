"""From which checkpoint or savepoint the queries of a program go on."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyflow.datastream.graph.checkpoints import Checkpoint, CheckpointDirectory
from pyflow.datastream.graph.fitting import Fitted, fitted, places_of
from pyflow.datastream.graph.manifest import IncompatibleProgramError, Manifest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyflow.datastream.graph.components import Component
    from pyflow.session.context import Context

__all__ = [
    "Recovery",
    "begin_checkpoints",
    "has_checkpoints",
    "recoveries",
    "savepoint_directory",
]

_DIRECTORIES = ("execution.checkpointing.dir", "state.checkpoints.dir")
_SAVEPOINTS = ("execution.checkpointing.savepoint-dir", "state.savepoints.dir")
_SAVEPOINT = ("execution.state-recovery.path", "execution.savepoint.path")
_UNCLAIMED = (
    "execution.state-recovery.ignore-unclaimed-state",
    "execution.savepoint.ignore-unclaimed-state",
)

_logger = logging.getLogger(__name__)


@dataclass
class Recovery:
    """From where a query goes on.

    Parameters
    ----------
    place
        The number of its checkpoint in the directory of the job.
    checkpoint
        Where it keeps its state.
    before
        The manifest of the program that wrote it, or the savepoint; None where it begins anew.
    savepoint
        What the checkpoint has to begin with.
    ignores_unclaimed
        Whether state may be given up whose operator is gone.
    """

    place: int
    checkpoint: Checkpoint
    before: Manifest | None
    savepoint: Checkpoint | None
    ignores_unclaimed: bool

    def fitted(self, component: Component, parallelism: int, job: str | None) -> Fitted:
        """Return a program with what it has in the checkpoint.

        Parameters
        ----------
        component
            The program.
        parallelism
            That it would have without a checkpoint.
        job
            The name of the job, where it is known.

        Raises
        ------
        IncompatibleProgramError
            If it cannot go on from there.
        """
        before = self.before
        if before is not None and before.operators and before.parallelism != parallelism:
            _logger.warning(
                "The state in %s was written with a parallelism of %d, which stays; %d is without "
                "effect.",
                self.checkpoint.directory,
                before.parallelism,
                parallelism,
            )
        return fitted(component, parallelism, before, self.ignores_unclaimed, job)


def recoveries(programs: Mapping[int, Manifest], context: Context) -> dict[int, Recovery]:
    """Return from where the unbounded queries of a program go on; empty if it has no checkpoints.

    Parameters
    ----------
    programs
        Those of the queries, as if there were no checkpoints, by their numbers in the program.
    context
        The session, and the settings.

    Raises
    ------
    IncompatibleProgramError
        If there is state that none of them has, or no such savepoint.
    """
    if not programs:
        return {}
    directory, savepoint = _first(context, _DIRECTORIES), _first(context, _SAVEPOINT)
    if savepoint is not None and directory is None:
        raise IncompatibleProgramError(
            f"A job that starts from the savepoint {savepoint} needs execution.checkpointing.dir, "
            "into which it is copied: Spark goes on from a checkpoint that it writes to."
        )
    if directory is None:
        return {}
    root = CheckpointDirectory(context.session, directory)
    is_interrupted = root.is_begun()
    if is_interrupted and savepoint is None:
        raise IncompatibleProgramError(
            f"The start from a savepoint in {directory} was interrupted: start the job from the "
            "savepoint again, or with another execution.checkpointing.dir."
        )
    saved: dict[int, Checkpoint] = {}
    found = {} if is_interrupted else root.checkpoints()
    committed = _committed(found)
    if savepoint is not None and committed:
        _logger.warning(
            "The job goes on from its checkpoint in %s, and not from the savepoint %s: give it "
            "another execution.checkpointing.dir to begin with that.",
            directory,
            savepoint,
        )
    elif savepoint is not None:
        given = CheckpointDirectory(context.session, savepoint)
        found = saved = {} if given.is_begun() else given.checkpoints()
        if not saved:
            raise IncompatibleProgramError(f"There is no whole savepoint at {savepoint!r}.")
        committed = _committed(saved)
    # Where nothing has been committed, a program has planned its first batch.
    kept = {place: committed.get(place) or each.planned() for place, each in found.items()}
    # Jobs of other names have checkpoints of their own in the directory. A savepoint is of one job,
    # which may have another name now.
    job = next(iter(programs.values())).job
    others = {
        place: each
        for place, each in kept.items()
        if not saved and job is not None and each.job not in (None, job)
    }
    kept = {place: each for place, each in kept.items() if place not in others}
    ignores = any(context.configuration.get_boolean(key, False) for key in _UNCLAIMED)
    return {
        number: Recovery(
            place,
            root.checkpoint(place),
            committed.get(place),
            saved[place] if place in saved and place in committed else None,
            ignores,
        )
        for number, place in places_of(
            programs, kept, committed.keys() & kept.keys(), ignores, others
        ).items()
    }


def _committed(checkpoints: Mapping[int, Checkpoint]) -> dict[int, Manifest]:
    """Return the manifests of checkpoints with committed batches."""
    found = {place: each.manifest() for place, each in checkpoints.items()}
    return {place: each for place, each in found.items() if each is not None}


def begin_checkpoints(recovered: Iterable[Recovery], context: Context) -> None:
    """Have the checkpoints of a program begin with those of a savepoint, if it starts from one."""
    from_savepoint = [each for each in recovered if each.savepoint is not None]
    directory = _first(context, _DIRECTORIES)
    if not from_savepoint or directory is None:
        return
    with CheckpointDirectory(context.session, directory).begun():
        for each in from_savepoint:
            assert each.savepoint is not None
            each.savepoint.copy_to(each.checkpoint.directory)


def has_checkpoints(context: Context) -> bool:
    """Return whether jobs have a directory for checkpoints."""
    return _first(context, _DIRECTORIES) is not None


def savepoint_directory(context: Context) -> str | None:
    """Return where savepoints are written, if the settings say so."""
    return _first(context, _SAVEPOINTS)


def _first(context: Context, keys: Sequence[str]) -> str | None:
    """Return the first of some settings that is set."""
    found = (context.configuration.get_string(key, None) for key in keys)
    return next(filter(None, found), None)
