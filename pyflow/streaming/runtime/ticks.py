"""A source without rows that has its query run a batch when a timer is due, without the plugin.

It is what ``io.pyflow.connectors.TickSource`` is with it, for timers of a processing time alone.
Spark asks it in a process of Python of its own, beside the driver; what the tasks of a batch have
reported reaches it through a file.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["attach", "report", "with_ticks"]

_NAME = "pyflow_ticks"
_FILE = "file"

_lock = threading.Lock()
_directory: str | None = None
# Of the queries that run, by their id: the file of the source, and the last batch with its timer.
_files: dict[str, str] = {}
_reported: dict[str, tuple[int, int]] = {}


def with_ticks(frame: DataFrame) -> tuple[DataFrame, str]:
    """Return the rows of a query beside such a source, and the source's file for `attach`."""
    session = frame.sparkSession
    file = os.path.join(_made_directory(), uuid.uuid4().hex)
    session.dataSource.register(Ticks)
    source = session.readStream.format(_NAME).schema(frame.schema).option(_FILE, file)
    return frame.union(source.load()), file


def _made_directory() -> str:
    global _directory
    with _lock:
        if _directory is None:
            _directory = tempfile.mkdtemp(prefix="pyflow-ticks-")
            atexit.register(shutil.rmtree, _directory, ignore_errors=True)
        return _directory


def attach(query: str, file: str) -> None:
    """Have the source of a query that was started be told of its timers."""
    with _lock:
        _files[query] = file
        _tell(query)


def report(query: str, batch: int, time: int) -> None:
    """Report the earliest timer of a task that its batch has not reached.

    Parameters
    ----------
    query : str
        Its id.
    batch : int
    time : int
        In milliseconds.
    """
    with _lock:
        if _directory is None:
            return
        last, earliest = _reported.get(query, (-1, time))
        if batch >= last:
            _reported[query] = (batch, time if batch > last else min(earliest, time))
            _tell(query)


def _tell(query: str) -> None:
    if query in _files and query in _reported:
        file = _files[query]
        with open(f"{file}.new", "w") as written:
            written.write("{} {}".format(*_reported[query]))
        os.replace(f"{file}.new", file)


class Ticks(DataSource):
    """The source; its option names the file."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return _NAME

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
        """Return the reader that Spark asks for offsets."""
        return _Reader(self.options[_FILE])


class _Reader(DataSourceStreamReader):
    """The offset is the time when the source has had the last batch run, in nanoseconds.

    It cannot count them: Spark 4.1 does not say from which offset a query goes on.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._goes_on = True
        self._reached = ""
        self._offset = 0

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Return the offset of a query that has had no batches."""
        self._goes_on = False
        return {"ticks": self._offset}

    def latestOffset(  # noqa: N802
        self, start: dict[str, int] | None = None, limit: Any = None
    ) -> dict[str, int]:
        """Return a new offset if a timer is due, or if the query resumes and knows of no timer."""
        if self._is_due():
            self._offset = time.time_ns()
        self._goes_on = False
        return {"ticks": self._offset}

    def _is_due(self) -> bool:
        if self._goes_on:
            return True
        try:
            with open(self._file) as reported:
                found = reported.read()
        except FileNotFoundError:
            return False
        if found == self._reached or int(found.split()[1]) > time.time() * 1000:
            return False
        # The batch that follows tells which timer is the next.
        self._reached = found
        return True

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[Any]:
        """There are no rows."""
        return []

    def read(self, partition: Any) -> Iterator[Any]:
        """There are no rows."""
        return iter(())
