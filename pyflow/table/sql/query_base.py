"""What the parts of a query know of it: `queries` reads it, other modules read pieces of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp

from pyflow.table.sql import tree
from pyflow.table.sql.expressions import Translator
from pyflow.table.sql.names import Around, Rows

if TYPE_CHECKING:
    from pyflow.table.changes.relation import Relation
    from pyflow.table.columns.nodes import Node
    from pyflow.table.context import TableContext
    from pyflow.table.relations.correlation import Domain

__all__ = ["Outer", "Query"]


@dataclass(frozen=True)
class Outer:
    """The outer query, for those of its columns that a subquery refers to."""

    rows: Rows
    domain: Domain

    def start(self) -> Rows:
        """Return rows without a table, one for each row of the domain."""
        return Rows(self.domain.relation, (), Around(self.rows, self.domain.columns))


@dataclass(frozen=True)
class Query(ABC):
    """One query, with the common table expressions that it may name.

    Parameters
    ----------
    outer
        The outer query, if this one refers to columns of it.
    """

    context: TableContext
    text: str
    common_tables: Mapping[str, tuple[exp.CTE, Query]] = field(default_factory=dict)
    outer: Outer | None = None

    def refuse(self, node: exp.Expr, reason: str) -> NoReturn:
        """Raise an error at the position of a node."""
        tree.refuse(self.text, node, reason)

    def translator(self, rows: Rows) -> Translator:
        """Return what turns expressions over these rows into nodes."""
        return Translator(self.context, self.text, rows)

    def one_row(self) -> Relation:
        """Return a relation of one row without columns."""
        return self.context.one_row

    def start(self) -> Rows:
        """Return the rows without FROM: one, or one for each row of the domain."""
        return Rows(self.one_row()) if self.outer is None else self.outer.start()

    @abstractmethod
    def nested(self, query: exp.Expr) -> Relation:
        """Return the rows of a subquery, whose order means nothing."""

    @abstractmethod
    def from_(self, node: exp.Expr, conditions: list[exp.Expr] | None = None) -> Rows:
        """Return the rows of a table reference.

        Parameters
        ----------
        conditions
            Equalities of WHERE, by which rows of tables behind a comma are looked up; these are
            taken out.
        """

    @abstractmethod
    def where(self, rows: Rows, condition: exp.Expr) -> Rows:
        """Return the rows for which a condition is true, which may have queries in it."""

    @abstractmethod
    def starred(self, rows: Rows, item: exp.Expr) -> list[tuple[str, Node]] | None:
        """Return names and values that ``*``, ``t.*`` or ``.*`` of a row stands for, or None."""

    @abstractmethod
    def aliased(self, rows: Rows, alias: exp.Expr) -> Rows:
        """Return the rows as those of a table with other names."""
