"""The connector ``python``: a data source written in Python, by PySpark's interface for those."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from pyspark.sql.types import StructField, StructType

from pyflow.connectors.connector import Connector, DescribedTable, Option, boolean
from pyflow.types.spark_types import to_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from pyflow.session.context import Context
    from pyflow.table.changes.relation import Relation


class Python(Connector):
    """A table that a class of the program reads or writes.

    The class is a :class:`pyspark.sql.datasource.DataSource`; its ``name()`` is what it is
    registered under in the session. It gets the options that begin with ``source.``.
    """

    identifier = "python"
    options = (
        Option("class", required=True),
        Option("streaming", boolean, "true or false", default=False),
        Option("source.#"),
    )

    def __init__(self, table: DescribedTable) -> None:
        super().__init__(table)
        self._class = self._found()

    def _found(self) -> type[DataSource]:
        from pyspark.sql.datasource import DataSource

        text = self["class"]
        module, _, name = text.rpartition(".")
        expected = "the name of a subclass of pyspark.sql.datasource.DataSource, as module.Class"
        try:
            found = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise self.wrong("class", text, f"{expected} ({error})") from error
        if not (isinstance(found, type) and issubclass(found, DataSource)):
            raise self.wrong("class", text, expected)
        return found

    def _options(self) -> dict[str, str]:
        return {
            key.removeprefix("source."): value
            for key, value in self.values.items()
            if key.startswith("source.")
        }

    def _registered(self, context: Context) -> SparkSession:
        """Return the session, in which Spark finds the class."""
        session = context.session
        session.dataSource.register(self._class)
        # Spark looks in the active session of its thread, which this makes of the session.
        session.createDataFrame([], "nothing int")
        return session

    def read(self, context: Context) -> DataFrame:
        """Return the rows of the class's reader: of its streaming one where the table says so."""
        session = self._registered(context)
        reader = session.readStream if self["streaming"] else session.read
        schema = StructType([StructField(n, to_spark(t)) for n, t in self.table.columns])
        reader = reader.format(self._class.name()).options(**self._options())
        return reader.schema(schema).load()

    def write(self, rows: Relation, overwrite: bool, context: Context) -> None:
        """Write the rows by the class's writer."""
        self._registered(context)
        writer = rows.rows().write.format(self._class.name()).options(**self._options())
        writer.mode("overwrite" if overwrite else "append").save()

    def check_sink(self, overwrite: bool) -> None:
        """Check nothing: the class says whether it writes, and replaces rows, when it is asked."""

    def stream_writer(self, rows: Relation, context: Context) -> DataStreamWriter | None:
        """Return Spark's writer that calls the class's streaming writer."""
        self._registered(context)
        writer = rows.rows().writeStream.format(self._class.name())
        return writer.options(**self._options())
