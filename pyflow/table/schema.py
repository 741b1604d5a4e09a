"""Schemas of tables as programs declare them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyflow.types.logical_types import DataType, RowType
from pyflow.types.syntax import parse
from pyflow.types.values import stored_type
from pyflow.util.exceptions import TableException
from pyflow.util.identifiers import literal, primary_key_text, quoted

__all__ = ["Schema"]


@dataclass(frozen=True, eq=False)
class UnresolvedColumn(ABC):
    """A column of a `Schema`.

    Parameters
    ----------
    name : str
        Its name.
    comment : str, optional
        Its comment.
    """

    name: str
    comment: str | None

    @abstractmethod
    def _declaration(self) -> str:
        """Return the column as it is declared, behind its name."""

    def __str__(self) -> str:
        comment = "" if self.comment is None else f" COMMENT {literal(self.comment)}"
        return f"{quoted(self.name)} {self._declaration()}{comment}"


@dataclass(frozen=True, eq=False)
class UnresolvedPhysicalColumn(UnresolvedColumn):
    """A column that the table's data has.

    Parameters
    ----------
    declared : DataType or str
        Its type as declared.
    """

    declared: DataType | str

    @property
    def data_type(self) -> DataType:
        """The column's type."""
        return _type(self.declared)

    def _declaration(self) -> str:
        return _declared(self.declared)


@dataclass(frozen=True, eq=False)
class UnresolvedComputedColumn(UnresolvedColumn):
    """A column that is computed from others.

    Parameters
    ----------
    expression : Expression or str
        How; a string is SQL.
    """

    expression: Any

    def _declaration(self) -> str:
        return f"AS {_summary(self.expression)}"


@dataclass(frozen=True, eq=False)
class UnresolvedMetadataColumn(UnresolvedColumn):
    """A column that the connector fills, as a record's time or topic.

    Parameters
    ----------
    declared : DataType or str
        Its type as declared.
    metadata_key : str, optional
        The connector's name for it; the column's name if None.
    is_virtual : bool
        Whether it is left out when the table is written to.
    """

    declared: DataType | str
    metadata_key: str | None
    is_virtual: bool

    @property
    def data_type(self) -> DataType:
        """The column's type."""
        return _type(self.declared)

    def _declaration(self) -> str:
        key = "" if self.metadata_key is None else f" FROM {literal(self.metadata_key)}"
        virtual = " VIRTUAL" if self.is_virtual else ""
        return f"{_declared(self.declared)} METADATA{key}{virtual}"


@dataclass(frozen=True, eq=False)
class UnresolvedWatermarkSpec:
    """The column that says when rows happened, and the watermark that follows from it.

    Parameters
    ----------
    column_name : str
        The column.
    expression : Expression or str
        The watermark of a row; a string is SQL.
    """

    column_name: str
    expression: Any

    def __str__(self) -> str:
        return f"WATERMARK FOR {quoted(self.column_name)} AS {_summary(self.expression)}"


@dataclass(frozen=True)
class UnresolvedPrimaryKey:
    """The columns that tell rows apart. Nothing checks that they do."""

    name: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return primary_key_text(self.name, self.columns)


class Schema:
    """The columns, the watermark and the key of a table, as declared; made by `new_builder`.

    Parameters
    ----------
    columns : sequence of UnresolvedColumn
        The columns in order.
    watermarks : sequence of UnresolvedWatermarkSpec
        The watermarks; connectors know one at most.
    key : UnresolvedPrimaryKey, optional
        The primary key.
    """

    def __init__(
        self,
        columns: Sequence[UnresolvedColumn],
        watermarks: Sequence[UnresolvedWatermarkSpec],
        key: UnresolvedPrimaryKey | None,
    ) -> None:
        self.columns = tuple(columns)
        self.watermarks = tuple(watermarks)
        self.key = key

    @staticmethod
    def new_builder() -> Schema.Builder:
        """Begin a schema without columns."""
        return Schema.Builder()

    def __str__(self) -> str:
        parts = [*self.columns, *self.watermarks, *([] if self.key is None else [self.key])]
        return "(\n" + ",\n".join(f"  {part}" for part in parts) + "\n)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    class Builder:
        """Builds a `Schema`. Each method but the last returns the builder."""

        def __init__(self) -> None:
            self._columns: list[UnresolvedColumn] = []
            self._watermarks: list[UnresolvedWatermarkSpec] = []
            self._key: UnresolvedPrimaryKey | None = None

        def from_schema(self, unresolved_schema: Schema) -> Schema.Builder:
            """Take over all of another schema."""
            self._columns.extend(unresolved_schema.columns)
            self._watermarks.extend(unresolved_schema.watermarks)
            if unresolved_schema.key is not None:
                key = unresolved_schema.key
                self.primary_key_named(key.name, *key.columns)
            return self

        def from_resolved_schema(self, resolved_schema: Any) -> Schema.Builder:
            """Take over all of the schema of a table, a `ResolvedSchema`."""
            return self.from_schema(resolved_schema.to_schema())

        def from_row_data_type(self, data_type: DataType) -> Schema.Builder:
            """Append a column for each field of a row type.

            Raises
            ------
            TableException
                If it is no type of rows.
            """
            if not isinstance(data_type, RowType):
                raise TableException(
                    f"columns are made of the fields of a ROW, not of {data_type.sql}"
                )
            return self.from_fields(data_type.field_names(), data_type.field_types())

        def from_fields(
            self, field_names: Sequence[str], field_data_types: Sequence[DataType | str]
        ) -> Schema.Builder:
            """Append columns of these names and types.

            Raises
            ------
            TableException
                If there are more of the ones than of the others.
            """
            if len(field_names) != len(field_data_types):
                raise TableException(
                    f"{len(field_names)} names of columns have {len(field_data_types)} types"
                )
            for name, data_type in zip(field_names, field_data_types):
                self.column(name, data_type)
            return self

        def column(self, column_name: str, data_type: str | DataType) -> Schema.Builder:
            """Append a column that the table's data has.

            Parameters
            ----------
            column_name : str
                Its name.
            data_type : DataType or str
                Its type, or the type's text.
            """
            _type(data_type)
            self._columns.append(UnresolvedPhysicalColumn(column_name, None, data_type))
            return self

        def column_by_expression(self, column_name: str, expr: Any) -> Schema.Builder:
            """Append a column that is computed from others.

            Parameters
            ----------
            column_name : str
                Its name.
            expr : Expression or str
                How; a string is SQL.
            """
            self._columns.append(UnresolvedComputedColumn(column_name, None, expr))
            return self

        def column_by_metadata(
            self,
            column_name: str,
            data_type: DataType | str,
            metadata_key: str | None = None,
            is_virtual: bool = False,
        ) -> Schema.Builder:
            """Append a column that the connector fills.

            Parameters
            ----------
            column_name : str
                Its name.
            data_type : DataType or str
                Its type, or the type's text.
            metadata_key : str, optional
                The connector's name for it; the column's name if None.
            is_virtual : bool
                Whether it is left out when the table is written to.
            """
            _type(data_type)
            self._columns.append(
                UnresolvedMetadataColumn(column_name, None, data_type, metadata_key, is_virtual)
            )
            return self

        def watermark(self, column_name: str, watermark_expr: Any) -> Schema.Builder:
            """Say which column tells when rows happened, and how late others may come.

            Parameters
            ----------
            column_name : str
                A column of type ``TIMESTAMP(3)`` or ``TIMESTAMP_LTZ(3)``.
            watermark_expr : Expression or str
                The watermark of a row, as ``"ts - INTERVAL '5' SECOND"``.
            """
            self._watermarks.append(UnresolvedWatermarkSpec(column_name, watermark_expr))
            return self

        def primary_key(self, *column_names: str) -> Schema.Builder:
            """Say which columns tell rows apart. Nothing checks that they do.

            Raises
            ------
            TableException
                If there are none, or the schema has a key.
            """
            return self.primary_key_named("_".join(("PK", *column_names)), *column_names)

        def primary_key_named(self, constraint_name: str, *column_names: str) -> Schema.Builder:
            """Say under a name which columns tell rows apart.

            Raises
            ------
            TableException
                If there are none, or the schema has a key.
            """
            if self._key is not None:
                raise TableException(f"the schema has a primary key already: {self._key}")
            if not column_names:
                raise TableException("a primary key has at least one column")
            self._key = UnresolvedPrimaryKey(constraint_name, column_names)
            return self

        def build(self) -> Schema:
            """Return the schema."""
            return Schema(self._columns, self._watermarks, self._key)


def _type(declared: DataType | str) -> DataType:
    return parse(declared) if isinstance(declared, str) else stored_type(declared)


def _declared(declared: DataType | str) -> str:
    # Flink shows what is still text in brackets.
    return f"[{declared}]" if isinstance(declared, str) else _type(declared).sql


def _summary(expression: Any) -> str:
    return f"[{expression}]" if isinstance(expression, str) else str(expression)
