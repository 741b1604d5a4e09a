"""The descriptions of columns of Flink's first connectors; `Schema` and `TableDescriptor` succeed.

A program of that time may still make them, and reads their properties.
"""

from __future__ import annotations

from typing import Any

from pyflow.table.table_schema import TableSchema
from pyflow.types.logical_types import DataType
from pyflow.types.values import stored_type
from pyflow.util.exceptions import TableException
from pyflow.util.gone import missing
from pyflow.util.unsupported import unsupported

__all__ = ["Rowtime", "Schema"]

_JAVA_CLASS = "it is a Java class of Flink; use Schema.new_builder().watermark(column, expression)"


class Descriptor:
    """A description by properties."""

    def __init__(self) -> None:
        self._properties: dict[str, str] = {}

    def to_properties(self) -> dict[str, str]:
        """Return the properties."""
        return dict(self._properties)


class Rowtime(Descriptor):
    """When rows happened. Each method returns this description."""

    def _timestamps(self, kind: str, **properties: str) -> Rowtime:
        self._properties["rowtime.timestamps.type"] = kind
        self._properties.update({f"rowtime.timestamps.{k}": v for k, v in properties.items()})
        return self

    def _watermarks(self, kind: str, **properties: str) -> Rowtime:
        self._properties["rowtime.watermarks.type"] = kind
        self._properties.update({f"rowtime.watermarks.{k}": v for k, v in properties.items()})
        return self

    def timestamps_from_field(self, field_name: str) -> Rowtime:
        """Say that a field tells it."""
        return self._timestamps("from-field", **{"from": field_name})

    def timestamps_from_source(self) -> Rowtime:
        """Say that the source tells it."""
        return self._timestamps("from-source")

    @unsupported(_JAVA_CLASS)
    def timestamps_from_extractor(self, extractor: str) -> Any:
        """Say that a Java class tells it."""

    def watermarks_periodic_ascending(self) -> Rowtime:
        """Say that rows come in the order in which they happened."""
        return self._watermarks("periodic-ascending")

    def watermarks_periodic_bounded(self, delay: int) -> Rowtime:
        """Say that rows come at most `delay` milliseconds later than others."""
        return self._watermarks("periodic-bounded", delay=str(delay))

    def watermarks_from_source(self) -> Rowtime:
        """Say that the source has watermarks."""
        return self._watermarks("from-source")

    @unsupported(_JAVA_CLASS)
    def watermarks_from_strategy(self, strategy: str) -> Any:
        """Say that a Java class makes watermarks."""


class Schema(Descriptor):
    """Columns. Each method returns this description.

    Parameters
    ----------
    schema : TableSchema, optional
        Columns to begin with.
    fields : dict, optional
        Types by name, to append.
    rowtime : Rowtime, optional
        When rows happened, by the last column.
    """

    def __init__(
        self,
        schema: TableSchema | None = None,
        fields: dict[str, DataType | str] | None = None,
        rowtime: Rowtime | None = None,
    ) -> None:
        super().__init__()
        self._columns: list[dict[str, str]] = []
        if schema is not None:
            self.schema(schema)
        if fields is not None:
            self.fields(fields)
        if rowtime is not None:
            self.rowtime(rowtime)

    def to_properties(self) -> dict[str, str]:
        """Return the properties: ``schema.0.name``, ``schema.0.data-type`` and so on."""
        return {
            f"schema.{position}.{key}": value
            for position, column in enumerate(self._columns)
            for key, value in column.items()
        }

    def schema(self, table_schema: TableSchema) -> Schema:
        """Use these columns instead of all that were set."""
        self._columns = []
        names, types = table_schema.get_field_names(), table_schema.get_field_data_types()
        for name, data_type in zip(names, types):
            self.field(name, data_type)
        return self

    def field(self, field_name: str, field_type: DataType | str) -> Schema:
        """Append a column of this name and type."""
        declared = field_type if isinstance(field_type, str) else stored_type(field_type).sql
        self._columns.append({"name": field_name, "data-type": declared})
        return self

    def fields(self, fields: dict[str, DataType | str]) -> Schema:
        """Append columns of these names and types.

        Raises
        ------
        TypeError
            If it is no dict.
        """
        if not isinstance(fields, dict):
            raise TypeError(f"the types of fields come in a dict by name, not in {fields!r}")
        for name, data_type in fields.items():
            self.field(name, data_type)
        return self

    def from_origin_field(self, origin_field_name: str) -> Schema:
        """Say the name that the last column has in the data."""
        self._last("from_origin_field")["from"] = origin_field_name
        return self

    def proctime(self) -> Schema:
        """Say that the last column is the time at which a row is processed."""
        self._last("proctime")["proctime"] = "true"
        return self

    def rowtime(self, rowtime: Rowtime) -> Schema:
        """Say that the last column is the time at which a row happened."""
        self._last("rowtime").update(rowtime.to_properties())
        return self

    def _last(self, method: str) -> dict[str, str]:
        if not self._columns:
            raise TableException(f"{method}() applies to the last field, and there is none yet")
        return self._columns[-1]


_CONNECTOR = "TableDescriptor.for_connector(), with its options"
_FORMAT = "TableDescriptor.for_connector().format(), with its options"
_GONE = {
    **dict.fromkeys(("Elasticsearch", "FileSystem", "HBase", "Jdbc", "Kafka"), _CONNECTOR),
    **dict.fromkeys(("Avro", "Csv", "Json", "OldCsv"), _FORMAT),
}


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, _GONE)
