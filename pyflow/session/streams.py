"""Bounded rows as a stream, for queries that also have unbounded ones."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pyflow.session.context import Context

__all__ = ["KeptRows", "as_stream"]


class KeptRows:
    """Where the rows of a bounded source are kept, from one start of a query to the next.

    Parameters
    ----------
    directory : str
        That no other program has.
    is_read : bool
        Whether a batch has been committed, which has had all rows.
    """

    def __init__(self, directory: str, is_read: bool) -> None:
        self._directory = directory
        self._is_read = is_read
        self._count = 0

    def path_of(self, frame: DataFrame, session: SparkSession) -> str:
        """Return the path of the rows of a frame, which are written where they are not there."""
        self._count += 1
        path = f"{self._directory}/{self._count}"
        jvm: Any = session._jvm
        there = jvm.org.apache.hadoop.fs.Path(path)
        files = there.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
        if self._is_read:
            files.mkdirs(there)
        elif not files.exists(jvm.org.apache.hadoop.fs.Path(path, "_SUCCESS")):
            frame.write.mode("overwrite").parquet(path)
        return path


def as_stream(frame: DataFrame, context: Context) -> DataFrame:
    """Return the rows of a frame as a stream that has them in its first batch.

    The rows are written once, into files that last as long as the checkpoint of the query, or else
    the program.

    Parameters
    ----------
    frame : DataFrame
    context : Context
    """
    if context.kept_rows is not None:
        path = context.kept_rows.path_of(frame, context.session)
    else:
        directory = tempfile.mkdtemp(prefix="pyflow-rows-")
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        path = f"{directory}/rows"
        frame.write.parquet(path)
    # Spark lets a pattern alone lead to another directory than when the rows were read.
    return context.session.readStream.schema(frame.schema).parquet(f"{path}/part-*")
