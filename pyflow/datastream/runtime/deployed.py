"""Stages as executors get them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pyflow.datastream.runtime.chain import unpickled
from pyflow.datastream.runtime.life_cycle import Opened, taken

if TYPE_CHECKING:
    from pyspark import Accumulator

__all__ = ["DeployedStage", "RowFunction"]

_O = TypeVar("_O", bound=Opened)


@dataclass(frozen=True)
class DeployedStage:
    """A stage of a job.

    Attributes
    ----------
    spec : bytes
        Pickled. It is unpickled where its operators are opened.
    job : str
    number : int
    name : str
        For plans and metrics.
    needs_shared_interpreter : str or None
        What its functions and elements need the shared interpreter for.
    metrics : Accumulator or None
        What takes the metrics of worker processes to the driver.
    """

    spec: bytes
    job: str
    number: int
    name: str
    needs_shared_interpreter: str | None
    metrics: Accumulator[Any] | None

    def taken(self, make: Callable[[Any], _O], *, skips_batches: bool = False) -> _O:
        """Return the operators of the current task, as :func:`~.life_cycle.taken` has them.

        Parameters
        ----------
        make : callable
            Opens them, of the specification.
        skips_batches : bool
            Whether a subtask has no task in a batch without rows for it.
        """
        opened = lambda: make(unpickled(self.spec))  # noqa: E731
        return taken(self.job, self.number, opened, self.metrics, skips_batches)


class RowFunction:
    """A function of a row's columns, which returns the rows that a stage makes of it.

    Parameters
    ----------
    stage : DeployedStage
    """

    def __init__(self, stage: DeployedStage) -> None:
        self._deployed = stage
        self.__name__ = stage.name
        self.needs_shared_interpreter = stage.needs_shared_interpreter

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._deployed,)
