"""Schemas of tables of which all types are known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from enum import Enum
from typing import Any, TypeVar

from pyflow.table import schema as declared
from pyflow.types.logical_types import DataType, RowField, RowType
from pyflow.types.strings import attribute_text
from pyflow.util.identifiers import literal, primary_key_text, quoted

SomeColumn = TypeVar("SomeColumn", bound="Column")


class Column(ABC):
    """A column of a `ResolvedSchema`.

    Parameters
    ----------
    name : str
        Its name.
    data_type : DataType
        Its type.
    comment : str, optional
        Its comment.
    """

    def __init__(self, name: str, data_type: DataType, comment: str | None = None) -> None:
        self._name = name
        self._data_type = data_type
        self._comment = comment
        #: "rowtime" or "proctime" of a time attribute.
        self._attribute: str | None = None

    @staticmethod
    def physical(name: str, data_type: DataType) -> PhysicalColumn:
        """Return a column that the table's data has."""
        return PhysicalColumn(name, data_type)

    @staticmethod
    def computed(name: str, resolved_expression: Any) -> ComputedColumn:
        """Return a column that a `ResolvedExpression` computes."""
        return ComputedColumn(name, resolved_expression)

    @staticmethod
    def metadata(
        name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool
    ) -> MetadataColumn:
        """Return a column that the connector fills.

        Parameters
        ----------
        name : str
            Its name.
        data_type : DataType
            Its type.
        metadata_key : str, optional
            The connector's name for it; the column's name if None.
        is_virtual : bool
            Whether it is left out when the table is written to.
        """
        return MetadataColumn(name, data_type, metadata_key, is_virtual)

    def with_comment(self: SomeColumn, comment: str | None) -> SomeColumn:
        """Return the column with a comment."""
        return self._with(_comment=comment)

    def copy(self: SomeColumn, new_data_type: DataType) -> SomeColumn:
        """Return the column with another type."""
        return self._with(_data_type=new_data_type)

    def rename(self: SomeColumn, new_name: str) -> SomeColumn:
        """Return the column with another name."""
        return self._with(_name=new_name)

    def _with(self: SomeColumn, **attributes: Any) -> SomeColumn:
        changed = copy(self)
        changed.__dict__.update(attributes)
        return changed

    @abstractmethod
    def is_physical(self) -> bool:
        """Return whether the table's data has the column."""

    @abstractmethod
    def is_persisted(self) -> bool:
        """Return whether the column is written when the table is written to."""

    @abstractmethod
    def explain_extras(self) -> str | None:
        """Return what there is to say beside name and type."""

    @abstractmethod
    def to_unresolved(self) -> declared.UnresolvedColumn:
        """Return the column as a `Schema` declares it. PyFlow's own."""

    def get_data_type(self) -> DataType:
        """Return the column's type."""
        return self._data_type

    def get_name(self) -> str:
        """Return the column's name."""
        return self._name

    def get_comment(self) -> str | None:
        """Return the comment of the column; None if it is not set."""
        return self._comment

    def as_summary_string(self) -> str:
        """Return the column in a line."""
        extras = self.explain_extras()
        comment = [] if self._comment is None else [f"COMMENT {literal(self._comment)}"]
        parts = [quoted(self._name), attribute_text(self._data_type, self._attribute)]
        parts += [] if extras is None else [extras]
        return " ".join([*parts, *comment])

    def __str__(self) -> str:
        return self.as_summary_string()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class PhysicalColumn(Column):
    """A column that the table's data has."""

    def is_physical(self) -> bool:
        """Return True."""
        return True

    def is_persisted(self) -> bool:
        """Return True."""
        return True

    def explain_extras(self) -> str | None:
        """Return None."""
        return None

    def to_unresolved(self) -> declared.UnresolvedColumn:
        """Return the column as a `Schema` declares it."""
        return declared.UnresolvedPhysicalColumn(self._name, self._comment, self._data_type)


class ComputedColumn(Column):
    """A column that is computed from others.

    Parameters
    ----------
    name : str
        Its name.
    expression : ResolvedExpression
        How.
    """

    def __init__(self, name: str, expression: Any) -> None:
        super().__init__(name, expression.get_output_data_type())
        self._expression = expression

    def is_physical(self) -> bool:
        """Return False."""
        return False

    def is_persisted(self) -> bool:
        """Return False."""
        return False

    def get_expression(self) -> Any:
        """Return the `ResolvedExpression` that computes it."""
        return self._expression

    def explain_extras(self) -> str | None:
        """Return how the column is computed."""
        return f"AS {self._expression.as_summary_string()}"

    def to_unresolved(self) -> declared.UnresolvedColumn:
        """Return the column as a `Schema` declares it."""
        return declared.UnresolvedComputedColumn(self._name, self._comment, self._expression)


class MetadataColumn(Column):
    """A column that the connector fills.

    Parameters
    ----------
    name : str
        Its name.
    data_type : DataType
        Its type.
    metadata_key : str, optional
        The connector's name for it; the column's name if None.
    is_virtual : bool
        Whether it is left out when the table is written to.
    """

    def __init__(
        self, name: str, data_type: DataType, metadata_key: str | None, is_virtual: bool
    ) -> None:
        super().__init__(name, data_type)
        self._metadata_key = metadata_key
        self._is_virtual = is_virtual

    def is_virtual(self) -> bool:
        """Return whether the column is left out when the table is written to."""
        return self._is_virtual

    def get_metadata_key(self) -> str | None:
        """Return the connector's name for it; None if it is the column's."""
        return self._metadata_key

    def is_physical(self) -> bool:
        """Return False."""
        return False

    def is_persisted(self) -> bool:
        """Return whether the column is written when the table is written to."""
        return not self._is_virtual

    def explain_extras(self) -> str | None:
        """Return where the column comes from."""
        key = "" if self._metadata_key is None else f" FROM {literal(self._metadata_key)}"
        return f"METADATA{key}{' VIRTUAL' if self._is_virtual else ''}"

    def to_unresolved(self) -> declared.UnresolvedColumn:
        """Return the column as a `Schema` declares it."""
        return declared.UnresolvedMetadataColumn(
            self._name, self._comment, self._data_type, self._metadata_key, self._is_virtual
        )


class WatermarkSpec:
    """The column that says when rows happened, and the watermark that follows; made by `of`."""

    def __init__(self, rowtime_attribute: str, watermark_expression: Any) -> None:
        self._rowtime_attribute = rowtime_attribute
        self._watermark_expression = watermark_expression

    @staticmethod
    def of(rowtime_attribute: str, watermark_expression: Any) -> WatermarkSpec:
        """Return the watermark that a `ResolvedExpression` gives for a column."""
        return WatermarkSpec(rowtime_attribute, watermark_expression)

    def get_rowtime_attribute(self) -> str:
        """Return the name of the column that says when rows happened."""
        return self._rowtime_attribute

    def get_watermark_expression(self) -> Any:
        """Return the `ResolvedExpression` of a row's watermark."""
        return self._watermark_expression

    def as_summary_string(self) -> str:
        """Return the watermark in a line."""
        expression = self._watermark_expression
        data_type = expression.get_output_data_type()
        return (
            f"WATERMARK FOR {quoted(self._rowtime_attribute)}: {data_type.sql}"
            f" AS {expression.as_summary_string()}"
        )

    def __str__(self) -> str:
        return self.as_summary_string()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WatermarkSpec) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class Constraint(ABC):
    """What holds for the rows of a table.

    Parameters
    ----------
    name : str
        Its name.
    enforced : bool
        Whether it is checked.
    """

    class ConstraintType(Enum):
        """Kinds of constraints."""

        PRIMARY_KEY = 0
        UNIQUE_KEY = 1

    def __init__(self, name: str, enforced: bool) -> None:
        self._name = name
        self._enforced = enforced

    def get_name(self) -> str:
        """Return the constraint's name."""
        return self._name

    def is_enforced(self) -> bool:
        """Return whether the constraint is checked."""
        return self._enforced

    @abstractmethod
    def get_type(self) -> Constraint.ConstraintType:
        """Return the kind of constraint."""

    @abstractmethod
    def as_summary_string(self) -> str:
        """Return the constraint in a line."""

    def __str__(self) -> str:
        return self.as_summary_string()


class UniqueConstraint(Constraint):
    """Columns that tell rows apart; made by `primary_key`. Nothing checks that they do."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        super().__init__(name, enforced=False)
        self._columns = list(columns)

    @staticmethod
    def primary_key(name: str, columns: Sequence[str]) -> UniqueConstraint:
        """Return the primary key of these columns."""
        return UniqueConstraint(name, columns)

    def get_columns(self) -> list[str]:
        """Return the columns."""
        return list(self._columns)

    def get_type(self) -> Constraint.ConstraintType:
        """Return that it is a primary key."""
        return Constraint.ConstraintType.PRIMARY_KEY

    def get_type_string(self) -> str:
        """Return the kind of constraint in SQL's words."""
        return "PRIMARY KEY"

    def as_summary_string(self) -> str:
        """Return the constraint in a line."""
        return primary_key_text(self._name, self._columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UniqueConstraint) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class ResolvedSchema:
    """The columns, the watermark and the key of a table, with all types.

    Parameters
    ----------
    columns : list of Column
        The columns in order.
    watermark_specs : list of WatermarkSpec
        The watermark; none or one.
    primary_key : UniqueConstraint, optional
        The columns that tell rows apart.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        watermark_specs: Sequence[WatermarkSpec] = (),
        primary_key: UniqueConstraint | None = None,
    ) -> None:
        self._columns = list(columns)
        self._watermark_specs = list(watermark_specs)
        self._primary_key = primary_key

    @staticmethod
    def of(columns: Sequence[Column]) -> ResolvedSchema:
        """Return the schema of these columns alone."""
        return ResolvedSchema(columns)

    @staticmethod
    def physical(
        column_names: Sequence[str], column_data_types: Sequence[DataType]
    ) -> ResolvedSchema:
        """Return the schema of columns of these names and types, which the table's data has.

        Raises
        ------
        ValueError
            If there are more of the ones than of the others.
        """
        if len(column_names) != len(column_data_types):
            raise ValueError(f"{len(column_names)} columns have {len(column_data_types)} types")
        return ResolvedSchema(list(map(PhysicalColumn, column_names, column_data_types)))

    @staticmethod
    def of_fields(
        fields: Sequence[tuple[str, DataType]], attributes: Mapping[str, str]
    ) -> ResolvedSchema:
        """Return the schema of columns, of which some are time attributes. PyFlow's own.

        Parameters
        ----------
        fields : sequence of tuple
            Names and types.
        attributes : mapping of str to str
            ``rowtime`` or ``proctime``, by the names of columns.
        """
        columns = [PhysicalColumn(name, data_type) for name, data_type in fields]
        return ResolvedSchema([c._with(_attribute=attributes.get(c.get_name())) for c in columns])

    @staticmethod
    def of_declared(
        schema: declared.Schema,
        fields: Sequence[tuple[str, DataType]],
        attributes: Mapping[str, str],
        resolved: Callable[[Any, DataType], Any],
    ) -> ResolvedSchema:
        """Return the schema of a table that is declared. PyFlow's own.

        Parameters
        ----------
        schema : Schema
            As it is declared.
        fields : sequence of tuple
            Names and types of all columns.
        attributes : mapping of str to str
            ``rowtime`` or ``proctime``, by the names of columns.
        resolved : callable
            Returns the `ResolvedExpression` of one of the schema, of a type.
        """
        types = dict(fields)
        keys = () if schema.key is None else schema.key.columns
        columns: list[Column] = []
        for each in schema.columns:
            made: Column
            data_type = types[each.name]
            if isinstance(each, declared.UnresolvedComputedColumn):
                made = ComputedColumn(each.name, resolved(each.expression, data_type))
            elif isinstance(each, declared.UnresolvedMetadataColumn):
                made = MetadataColumn(each.name, data_type, each.metadata_key, each.is_virtual)
            else:
                kept = data_type.not_null() if each.name in keys else data_type
                made = PhysicalColumn(each.name, kept)
            made = made.with_comment(each.comment)
            columns.append(made._with(_attribute=attributes.get(each.name)))
        watermarks = [
            WatermarkSpec(each.column_name, resolved(each.expression, types[each.column_name]))
            for each in schema.watermarks
        ]
        key = None
        if schema.key is not None:
            key = UniqueConstraint.primary_key(schema.key.name, keys)
        return ResolvedSchema(columns, watermarks, key)

    def get_column_count(self) -> int:
        """Return the number of columns."""
        return len(self._columns)

    def get_columns(self) -> list[Column]:
        """Return the columns."""
        return list(self._columns)

    def get_column_names(self) -> list[str]:
        """Return the names of the columns."""
        return [column.get_name() for column in self._columns]

    def get_column_data_types(self) -> list[DataType]:
        """Return the types of the columns."""
        return [column.get_data_type() for column in self._columns]

    def get_column(self, column_index_or_name: int | str) -> Column | None:
        """Return a column by position or name; None if there is none."""
        if isinstance(column_index_or_name, int):
            known = 0 <= column_index_or_name < len(self._columns)
            return self._columns[column_index_or_name] if known else None
        named = (column for column in self._columns if column.get_name() == column_index_or_name)
        return next(named, None)

    def get_watermark_specs(self) -> list[WatermarkSpec]:
        """Return the watermark, if there is one."""
        return list(self._watermark_specs)

    def get_primary_key(self) -> UniqueConstraint | None:
        """Return the primary key; None if there is none."""
        return self._primary_key

    def get_primary_key_indexes(self) -> list[int]:
        """Return the positions of the columns of the primary key; none without one."""
        key = [] if self._primary_key is None else self._primary_key.get_columns()
        names = self.get_column_names()
        return [names.index(name) for name in key]

    def to_source_row_data_type(self) -> RowType:
        """Return the type of the rows that are read: of all columns."""
        return _row_type(self._columns)

    def to_physical_row_data_type(self) -> RowType:
        """Return the type of the rows of the table's data."""
        return _row_type(column for column in self._columns if column.is_physical())

    def to_sink_row_data_type(self) -> RowType:
        """Return the type of the rows that are written."""
        return _row_type(column for column in self._columns if column.is_persisted())

    def to_schema(self) -> declared.Schema:
        """Return the schema as a program declares it. PyFlow's own."""
        key = self._primary_key
        return declared.Schema(
            [column.to_unresolved() for column in self._columns],
            [
                declared.UnresolvedWatermarkSpec(
                    watermark.get_rowtime_attribute(), watermark.get_watermark_expression()
                )
                for watermark in self._watermark_specs
            ],
            None
            if key is None
            else declared.UnresolvedPrimaryKey(key.get_name(), tuple(key.get_columns())),
        )

    def __str__(self) -> str:
        key = [] if self._primary_key is None else [self._primary_key]
        parts = [*self._columns, *self._watermark_specs, *key]
        return "(\n" + ",\n".join(f"  {part}" for part in parts) + "\n)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResolvedSchema) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def _row_type(columns: Iterable[Column]) -> RowType:
    fields = [
        RowField(column.get_name(), column.get_data_type(), column.get_comment())
        for column in columns
    ]
    return RowType(fields, nullable=False)
