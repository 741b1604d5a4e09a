"""Files that only the executors, or the server of Spark Connect, may be able to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

# By default Spark takes no file that is a week older than the newest that it has seen, and says
# nothing of it.
_MAX_FILE_AGE = "36500d"


def matches(session: SparkSession, pattern: str) -> bool:
    """Return whether there are files or directories of a path, which may be a pattern."""
    try:
        # Twice: of a single path Spark looks for a log of files, and warns where it finds none.
        session.read.format("binaryFile").load([pattern, pattern]).schema  # noqa: B018
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return False
        raise
    return True


def holds_files(session: SparkSession, directory: str) -> bool:
    """Return whether there are files in a directory that a reader sees."""
    if not matches(session, directory):
        return False
    reader = session.read.format("binaryFile").option("recursiveFileLookup", "true")
    return bool(reader.load(directory).inputFiles())


def file_stream(session: SparkSession, format: str) -> DataStreamReader:
    """Return a reader of files that are there and of those to come, of any age, each once."""
    return session.readStream.format(format).option("maxFileAge", _MAX_FILE_AGE)
