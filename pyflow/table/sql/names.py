"""What names mean in a query: the tables of its FROM and their columns.

A relation's columns have unique names. The tables that were joined to it are sources: each knows
under which visible names it brought which columns. A name that no source has may be a column of the
outer query.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyflow.table.changes.relation import Relation, unused


class OuterColumn(Exception):  # noqa: N818
    """A subquery refers to a column of the outer query that its rows do not have yet.

    Parameters
    ----------
    around
        The rows of the outer query.
    column
        A column of these.
    """

    def __init__(self, around: Rows, column: str) -> None:
        super().__init__(f"the column {column} of the outer query is not known here")
        self.around = around
        self.column = column


@dataclass(frozen=True)
class Source:
    """A table of FROM.

    Parameters
    ----------
    qualifier
        The names before a column's name, last an alias or the table's own; empty without any.
    columns
        Visible names and the relation's columns.
    hidden
        Columns that are found with the qualifier only: those that a join with USING has merged.
    """

    qualifier: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    hidden: frozenset[str] = frozenset()

    def qualified_by(self, parts: Sequence[str]) -> bool:
        """Return whether these names before a column mean this table."""
        return bool(parts) and self.qualifier[-len(parts) :] == tuple(parts)

    def find(self, name: str, hidden: bool) -> list[str]:
        """Return the relation's columns of a visible name."""
        return [
            field
            for visible, field in self.columns
            if visible == name and (hidden or field not in self.hidden)
        ]

    def visible(self) -> list[tuple[str, str]]:
        """Return what ``*`` means."""
        return [entry for entry in self.columns if entry[1] not in self.hidden]


@dataclass(frozen=True)
class Around:
    """The outer query of a subquery.

    Parameters
    ----------
    rows
        Its rows.
    columns
        Columns of these that the rows of the subquery have, too, with their names there.
    """

    rows: Rows
    columns: Mapping[str, str]


@dataclass(frozen=True)
class Rows:
    """A relation and the tables that its columns are from."""

    relation: Relation
    sources: tuple[Source, ...] = ()
    around: Around | None = None

    @property
    def outer_columns(self) -> list[str]:
        """Return the columns that are those of the outer query."""
        return [] if self.around is None else [*self.around.columns.values()]

    def named(self, qualifier: Sequence[str], columns: Sequence[str] | None = None) -> Rows:
        """Return the rows as one table of this name, with these names of its first columns."""
        fields = [field for source in self.sources for _, field in source.visible()]
        old = [visible for source in self.sources for visible, _ in source.visible()]
        new = [*(columns or ()), *old[len(columns or ()) :]]
        return replace(self, sources=(Source(tuple(qualifier), tuple(zip(new, fields))),))

    def visible(self) -> list[tuple[str, str]]:
        """Return what ``*`` means: visible names and columns."""
        return [entry for source in self.sources for entry in source.visible()]

    def apart_from(self, names: Iterable[str]) -> Rows:
        """Return the same rows with other names for columns that have one of these names."""
        used = [*names]
        new: dict[str, str] = {}
        for name in self.relation.names:
            new[name] = unused(name, [*used, *new.values()])
        if all(name == other for name, other in new.items()):
            return self
        return replace(
            self,
            relation=self.relation.renamed([new[name] for name in self.relation.names]),
            sources=tuple(
                replace(
                    source,
                    columns=tuple((visible, new[field]) for visible, field in source.columns),
                    hidden=frozenset(new[field] for field in source.hidden),
                )
                for source in self.sources
            ),
            around=None
            if self.around is None
            else replace(
                self.around,
                columns={outer: new[name] for outer, name in self.around.columns.items()},
            ),
        )

    def resolve(self, parts: Sequence[str]) -> tuple[list[str], int]:
        """Return what :meth:`find` does, and columns of the outer query if it finds none.

        Raises
        ------
        OuterColumn
            If the rows do not have that column of the outer query.
        """
        found, used = self.find(parts)
        if found or self.around is None:
            return found, used
        outer, used = self.around.rows.resolve(parts)
        for name in outer:
            if name not in self.around.columns:
                raise OuterColumn(self.around.rows, name)
        return [self.around.columns[name] for name in outer], used

    def find(self, parts: Sequence[str]) -> tuple[list[str], int]:
        """Return the columns that a path of names may mean, and how many of the names it takes."""
        for length in range(min(len(parts) - 1, 3), 0, -1):
            sources = [source for source in self.sources if source.qualified_by(parts[:length])]
            found = [field for source in sources for field in source.find(parts[length], True)]
            if found:
                return found, length + 1
        return [field for source in self.sources for field in source.find(parts[0], False)], 1

    def missing(self, parts: Sequence[str]) -> str:
        """Return why a path means nothing."""
        path = ".".join(parts)
        known = [name for name, _ in self.visible()]
        near = difflib.get_close_matches(parts[-1], known, n=3, cutoff=0.6)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        if len(parts) > 1 and not near:
            tables = [".".join(source.qualifier) for source in self.sources if source.qualifier]
            hint = f" (tables: {', '.join(tables) or 'none'})"
        elif not near:
            hint = f" (columns: {', '.join(known) or 'none'})"
        return f"Column '{path}' not found in any table{hint}"


def of_relation(relation: Relation, qualifier: Sequence[str] = ()) -> Rows:
    """Return the rows of a table of this name."""
    return Rows(relation, (Source(tuple(qualifier), tuple((n, n) for n in relation.names)),))


def output_names(wanted: Sequence[str]) -> list[str]:
    """Return names of a query's columns: a name that is taken gets a number."""
    names: list[str] = []
    for name in wanted:
        number, unique = 0, name
        while unique in names:
            unique, number = f"{name}{number}", number + 1
        names.append(unique)
    return names
