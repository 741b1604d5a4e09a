"""What states the operators of a stage declare, compared with those in the checkpoint.

Functions declare state where they run, so that the program does not know of it before it starts.
Each subtask keeps beside its state of what kind and type that is. A program that declares it
otherwise fails in its first batch, before the batch is committed: the program that wrote the state
can go on.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyflow.datastream.runtime.errors import OperatorError
from pyflow.datastream.state import StateDescriptor

__all__ = ["DeclaredStates", "description"]


def description(descriptor: StateDescriptor) -> str:
    """Return of what kind and type a state is; values with a time to live are kept otherwise."""
    kind = type(descriptor).__name__.removesuffix("Descriptor")
    config = descriptor._ttl_config
    lives = " with a time to live" if config is not None and config.is_enabled() else ""
    return f"{kind}({descriptor.type_info}){lives}"


class DeclaredStates:
    """The declared states of a stage, by their operator and name.

    Parameters
    ----------
    names : mapping of int to str
        Of the operators, by their number.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = names
        self._declared: dict[tuple[int, str], str] = {}
        self._stored: dict[tuple[int, str], str] | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether the states in the checkpoint are known."""
        return self._stored is not None

    def load(self, stored: Mapping[tuple[int, str], str]) -> None:
        """Take those in the checkpoint.

        Raises
        ------
        OperatorError
            If one of another kind or type has been declared.
        """
        self._stored = dict(stored)
        for (operator, name), found in self._declared.items():
            self._check(operator, name, found)

    def declare(self, operator: int, name: str, found: str) -> None:
        """Add a state of an operator, as `description` has it.

        Raises
        ------
        OperatorError
            If that in the checkpoint is of another kind or type.
        """
        if self._stored is not None:
            self._check(operator, name, found)
        self._declared[operator, name] = found

    def _check(self, operator: int, name: str, found: str) -> None:
        assert self._stored is not None
        before = self._stored.get((operator, name), found)
        if before != found:
            raise OperatorError(
                f"operator '{self._names[operator]}' declares the state '{name}' as {found}, and "
                f"the checkpoint has it as {before}. Declare it as it was, or give it another "
                "name; or start with another execution.checkpointing.dir, without the state."
            )

    def written(self) -> dict[tuple[int, str], str] | None:
        """Return what the checkpoint is to have; None if it is what it has."""
        after = {**(self._stored or {}), **self._declared}
        if after == self._stored:
            return None
        self._stored = after
        return after
