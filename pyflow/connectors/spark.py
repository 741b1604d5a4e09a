"""The connector ``spark``: a table or view of one of Spark's catalogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

from pyflow.connectors.connector import Connector, Option
from pyflow.connectors.session_settings import with_setting
from pyflow.connectors.turns import turn_at
from pyflow.table.changes.relation import column
from pyflow.types.spark_types import to_spark
from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pyflow.session.context import Context
    from pyflow.table.changes.relation import Relation


# A writer of a table by its name takes this from the session's settings alone.
_MODE = "spark.sql.sources.partitionOverwriteMode"


class Spark(Connector):
    """A table that Spark knows by a name."""

    identifier = "spark"
    options = (Option("table", required=True),)

    def read(self, context: Context) -> DataFrame:
        """Return the rows that the table has now, its columns by name and of the declared types."""
        frame = self._found(context)
        missing = [name for name, _ in self.table.columns if name not in frame.columns]
        if missing:
            raise self._differs(missing, frame.columns)
        return frame.select(
            *(
                column(name).cast(to_spark(data_type)).alias(name)
                if frame.schema[name].dataType != to_spark(data_type)
                else column(name)
                for name, data_type in self.table.columns
            )
        )

    def _found(self, context: Context) -> DataFrame:
        try:
            frame = context.session.table(self["table"])
            # Over Connect the name is looked for when the columns are asked for.
            frame.schema  # noqa: B018
        except AnalysisException as error:
            raise TableException(
                f"Table {self.table.identifier}: Spark cannot read {self['table']!r}: "
                f"{str(error).splitlines()[0]}"
            ) from error
        return frame

    def check_sink(self, overwrite: bool) -> None:
        """Spark says whether it writes a table, and replaces its rows, when it is asked for it."""

    def write(self, rows: Relation, overwrite: bool, context: Context) -> None:
        """Append the rows, or replace those of the table, or of the partitions that they are in."""
        there = self._found(context).columns
        given = [name for name, _ in self.table.columns]
        if set(given) != set(there):
            raise self._differs(given, there)
        writer = rows.frame.select(*map(column, there)).write
        with turn_at(self._qualified(context)):
            if not overwrite:
                writer.insertInto(self["table"], False)
                return
            with with_setting(context.session, _MODE, "dynamic"):
                writer.insertInto(self["table"], True)

    def _qualified(self, context: Context) -> str:
        """Return the name of the table in full."""
        name: str = self["table"]
        try:
            found = context.session.catalog.getTable(name)
        except AnalysisException:
            return name
        return ".".join([found.catalog or "", *(found.namespace or ()), found.name])

    def write_batch(self, rows: Relation, batch: int, context: Context) -> None:
        """Append a micro-batch.

        It is written in a session of its own, so that this one has to look for files again.
        """
        super().write_batch(rows, batch, context)
        context.session.catalog.refreshTable(self["table"])

    def _differs(self, wanted: list[str], there: list[str]) -> TableException:
        return TableException(
            f"Table {self.table.identifier}: Spark's table {self['table']} has the columns "
            f"{', '.join(there)}, and not {', '.join(wanted)}."
        )
