"""What statements have in common: their environment, their text and how they answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from sqlglot import exp

from pyflow.common.types import Row
from pyflow.table import types
from pyflow.table.schema import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
)
from pyflow.table.sql import tree
from pyflow.table.sql.expressions import path_of
from pyflow.table.sql.queries import relation_of
from pyflow.table.table import Table
from pyflow.table.table_result import Style, TableResult
from pyflow.types.data_types import DataTypes
from pyflow.util.exceptions import TableException
from pyflow.util.identifiers import quoted

if TYPE_CHECKING:
    from pyflow.table.context import TableContext

_STRING = DataTypes.STRING()


class Execution:
    """One statement in its environment."""

    def __init__(self, context: TableContext, text: str) -> None:
        self._context = context
        self._objects = context.catalogs
        self._text = text

    def _refuse(self, node: exp.Expr, reason: str) -> NoReturn:
        tree.refuse(self._text, node, reason)

    def _table(self, statement: exp.Expr) -> Table:
        return Table(relation_of(self._context, self._text, statement), self._context)

    def _rows(
        self,
        names: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *kinds: Any,
        style: Style = Style.OF_STATEMENT,
    ) -> TableResult:
        """Return a result of rows that are known."""
        data_types = [*kinds, *[_STRING] * (len(names) - len(kinds))]

        def made() -> Iterator[Row]:
            return iter([Row(*row) for row in rows])

        return TableResult(list(zip(names, data_types)), self._context, made, style=style)

    def _type(self, name: exp.Expr) -> types.DataType:
        try:
            return types.parse(name.this, in_sql=True)
        except TableException as error:
            self._refuse(name, str(error))

    def _column(self, column: exp.Expr) -> UnresolvedColumn:
        """Return a column as it is written between parentheses."""
        name = column.this.name
        comment = column.args.get("comment")
        text = None if comment is None else comment.name
        if column.args.get("computed") is not None:
            return UnresolvedComputedColumn(name, text, column.args["text"])
        data_type = self._type(column.args["type"])
        if column.args.get("metadata"):
            key = column.args.get("metadata_key")
            return UnresolvedMetadataColumn(
                name,
                text,
                data_type,
                key.name if key is not None else None,
                bool(column.args.get("virtual")),
            )
        return UnresolvedPhysicalColumn(name, text, data_type)

    def _watermarks(self, statement: exp.Expr) -> list[UnresolvedWatermarkSpec]:
        """Return the watermark that is written between parentheses, or none."""
        watermark = statement.args.get("watermark")
        if watermark is None:
            return []
        path = path_of(watermark.this) or []
        if len(path) != 1:
            self._refuse(watermark.this, "a watermark of a nested field is not supported")
        return [UnresolvedWatermarkSpec(path[0], watermark.args["text"])]

    def _primary_key(self, statement: exp.Expr) -> UnresolvedPrimaryKey | None:
        """Return the primary key that is written between parentheses or behind a column."""
        names = [
            column.this.name
            for column in statement.args.get("columns") or ()
            if column.args.get("primary_key")
        ]
        key = statement.args.get("primary_key")
        if key is not None:
            names += [name.name for name in key.expressions]
            if key.this is not None:
                return UnresolvedPrimaryKey(key.this.name, tuple(names))
        return UnresolvedPrimaryKey("_".join(("PK", *names)), tuple(names)) if names else None


def keyed(
    columns: Sequence[UnresolvedColumn], key: UnresolvedPrimaryKey | None
) -> list[UnresolvedColumn]:
    """Return columns of which those of a key have no nulls, as Flink declares them."""
    names = () if key is None else key.columns
    return [
        replace(each, declared=each.data_type.not_null())
        if isinstance(each, UnresolvedPhysicalColumn) and each.name in names
        else each
        for each in columns
    ]


def path_text(name: exp.Expr) -> str:
    """Return a name of up to three parts as text."""
    return ".".join(map(quoted, parts_of(name)))


def parts_of(name: exp.Expr) -> list[str]:
    """Return the parts of a name."""
    return [part.name for part in (name.parts if isinstance(name, exp.Table) else [name])]


def options_of(statement: exp.Expr) -> dict[str, str]:
    """Return the options of WITH or SET."""
    return {
        option.this.name: option.expression.name for option in statement.args.get("options") or ()
    }
