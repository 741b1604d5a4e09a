"""From which checkpoint or savepoint the queries of a program go on."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyflow.datastream.graph.checkpoints import Checkpoint, checkpoints_in
from pyflow.datastream.graph.manifest import (
    Fitted,
    IncompatibleProgramError,
    fitted,
    places_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyflow.datastream.graph.components import Component
    from pyflow.session.context import Context

__all__ = ["Recovery", "recoveries", "savepoint_directory"]

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
    savepoint
        What the checkpoint begins with, if it is not there.
    ignores_unclaimed
        Whether state may be given up whose operator is gone.
    """

    place: int
    checkpoint: Checkpoint
    savepoint: Checkpoint | None
    ignores_unclaimed: bool

    def fitted(self, component: Component, parallelism: int) -> Fitted:
        """Return a program with what it has in the checkpoint.

        Parameters
        ----------
        component
            The program.
        parallelism
            That it would have without a checkpoint.

        Raises
        ------
        IncompatibleProgramError
            If it cannot go on from there.
        """
        checkpoint, before = self.checkpoint, self.checkpoint.manifest()
        if before is None and self.savepoint is not None:
            self.savepoint.copy_to(checkpoint.directory)
            before = checkpoint.manifest()
        if before is not None and before.operators and before.parallelism != parallelism:
            _logger.warning(
                "The state in %s was written with a parallelism of %d, which stays; %d is without "
                "effect.",
                checkpoint.directory,
                before.parallelism,
                parallelism,
            )
        return fitted(component, parallelism, before, self.ignores_unclaimed)


def recoveries(components: Mapping[int, Component], context: Context) -> dict[int, Recovery]:
    """Return from where the unbounded queries of a program go on; empty if it has no checkpoints.

    Parameters
    ----------
    components
        By their numbers in the program.
    context
        The session, and the settings.

    Raises
    ------
    IncompatibleProgramError
        If there is state that none of them has, or no such savepoint.
    """
    directory, savepoint = _first(context, _DIRECTORIES), _first(context, _SAVEPOINT)
    if directory is None or not components:
        return {}
    session = context.session
    saved = {} if savepoint is None else checkpoints_in(session, savepoint)
    kept = checkpoints_in(session, directory)
    if savepoint is not None and kept:
        _logger.warning(
            "The job goes on from its checkpoint in %s, and not from the savepoint %s: give it "
            "another execution.checkpointing.dir to begin with that.",
            directory,
            savepoint,
        )
    elif savepoint is not None and not saved:
        raise IncompatibleProgramError(f"There is no whole savepoint at {savepoint!r}.")
    ignores = any(context.configuration.get_boolean(key, False) for key in _UNCLAIMED)
    found = {place: each.manifest() for place, each in {**saved, **kept}.items()}
    manifests = {place: each for place, each in found.items() if each is not None}
    return {
        number: Recovery(
            place,
            Checkpoint(session, f"{directory.rstrip('/')}/{place}"),
            saved.get(place),
            ignores,
        )
        for number, place in places_of(components, manifests, ignores).items()
    }


def savepoint_directory(context: Context) -> str | None:
    """Return where savepoints are written, if the settings say so."""
    return _first(context, _SAVEPOINTS)


def _first(context: Context, keys: Sequence[str]) -> str | None:
    """Return the first of some settings that is set."""
    found = (context.configuration.get_string(key, None) for key in keys)
    return next(filter(None, found), None)
