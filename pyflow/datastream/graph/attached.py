"""What other APIs have a program of data streams run as a part of its job."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["Attached"]


class Attached(ABC):
    """Work beside the streams of a program.

    A program starts it, runs it, and closes it once, also where it could not be started.

    Parameters
    ----------
    names : sequence of str
        Of what it writes to.
    is_unbounded : bool
        Whether it has queries, of which there are no savepoints.
    """

    def __init__(self, names: Sequence[str], is_unbounded: bool) -> None:
        self.names = tuple(names)
        self.is_unbounded = is_unbounded

    @abstractmethod
    def start(self) -> Sequence[StreamingQuery]:
        """Start what is unbounded, and return its queries, which the program stops."""

    @abstractmethod
    def run(self) -> None:
        """Do what is bounded."""

    @abstractmethod
    def close(self) -> None:
        """Close what queries that have been stopped have opened."""
