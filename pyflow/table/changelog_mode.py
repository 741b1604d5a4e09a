"""Which changes a changelog has."""

from __future__ import annotations

from dataclasses import dataclass

from pyflow.common.types import RowKind

__all__ = ["ChangelogMode"]


@dataclass(frozen=True)
class ChangelogMode:
    """Which kinds of rows a changelog has.

    Parameters
    ----------
    kinds : frozenset of RowKind
        The kinds.
    """

    kinds: frozenset[RowKind]

    @staticmethod
    def insert_only() -> ChangelogMode:
        """Return the changelog of insertions alone."""
        return ChangelogMode(frozenset({RowKind.INSERT}))

    @staticmethod
    def upsert() -> ChangelogMode:
        """Return the changelog by key, which needs no rows from before an update."""
        return ChangelogMode(frozenset(RowKind) - {RowKind.UPDATE_BEFORE})

    @staticmethod
    def all() -> ChangelogMode:
        """Return the changelog of all kinds."""
        return ChangelogMode(frozenset(RowKind))
