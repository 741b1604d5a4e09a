"""Rows that a query with a checkpoint reads once, although it is started again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["KeptRows"]


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
        self.is_read = is_read
        self._count = 0

    def path_of(self, frame: DataFrame, session: SparkSession) -> str:
        """Return the path of the rows of a frame, which are written where they are not there."""
        self._count += 1
        path = f"{self._directory}/{self._count}"
        jvm: Any = session._jvm
        there = jvm.org.apache.hadoop.fs.Path(path)
        files = there.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
        if self.is_read:
            files.mkdirs(there)
        elif not files.exists(jvm.org.apache.hadoop.fs.Path(path, "_SUCCESS")):
            frame.write.mode("overwrite").parquet(path)
        return path
