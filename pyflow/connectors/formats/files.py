"""Formats of files that Spark reads and writes whole: ``parquet`` and ``orc``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyflow.connectors.formats.format import Format
from pyflow.table.changes.relation import column
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pyflow.connectors.formats.format import Fields


class FileFormat(Format):
    """A format whose rows stand in files alone."""

    def decoded(
        self,
        frame: DataFrame,
        value: str,
        fields: Fields,
        kept: Sequence[str],
        nulls: bool = False,
    ) -> DataFrame:
        """Raise: a row alone has no bytes."""
        raise self._alone()

    def encoded(self, fields: Fields, source: Callable[[str], Column] = column) -> Column:
        """Raise: a row alone has no bytes."""
        raise self._alone()

    def _alone(self) -> TableException:
        return TableException(
            f"Table {self.table.identifier}: the format {self.identifier!r} is one of files."
        )


class Parquet(FileFormat):
    """Parquet files."""

    identifier = "parquet"
    files = "parquet"


class Orc(FileFormat):
    """ORC files."""

    identifier = "orc"
    files = "orc"
