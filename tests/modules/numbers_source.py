"""A data source in Python, as a table's connector."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceWriter,
    WriterCommitMessage,
)


class Numbers(DataSource):
    """Reads numbers up to an option, and writes rows into a file."""

    @classmethod
    def name(cls):
        return "numbers"

    def reader(self, schema):
        return Reader(int(self.options["end"]))

    def writer(self, schema, overwrite):
        return Writer(self.options["path"])


class Reader(DataSourceReader):
    """Yields a number and its square."""

    def __init__(self, end):
        self.end = end

    def read(self, partition):
        for number in range(self.end):
            yield number, number * number


class Writer(DataSourceWriter):
    """Appends rows to a file."""

    def __init__(self, path):
        self.path = path

    def write(self, iterator):
        with Path(self.path).open("a") as file:
            file.writelines(f"{tuple(row)}\n" for row in iterator)
        return WriterCommitMessage()
