"""Files that a source reads, and the part files that a sink writes."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyflow.session.files import file_stream
from pyflow.session.streams import as_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from pyflow.session.context import Context

__all__ = ["FileKind", "InputFiles", "PartFiles"]

_WRITER = "io.pyflow.connectors.PartFiles"


@dataclass(frozen=True)
class InputFiles:
    """The files of paths, which may be directories.

    Directories are read with all below them, except files and directories whose names begin with
    ``.`` or ``_``.

    Parameters
    ----------
    paths : sequence of str
        Paths of local files or addresses such as ``file:///data`` and ``s3a://bucket/data``.
    is_monitored : bool
        Whether files that come later are read, too.
    is_streaming : bool
        Whether the frame must be a streaming one.
    context : Context
    """

    paths: Sequence[str]
    is_monitored: bool
    is_streaming: bool
    context: Context

    def load(
        self,
        format: str,
        schema: StructType | str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> DataFrame:
        """Return the rows of the files.

        Parameters
        ----------
        format : str
            Spark's name of the format.
        schema : StructType or str, optional
            The columns; those that the files have now, if none is given.
        options : mapping, optional
            Of Spark's reader.
        """
        chosen = {"recursiveFileLookup": "true", **(options or {})}
        session = self.context.session
        if self.is_monitored:
            if schema is None:
                schema = session.read.options(**chosen).format(format).load(list(self.paths)).schema
            reader = file_stream(session, format).options(**chosen).schema(schema)
            frames = [reader.load(path) for path in self.paths]
            return functools.reduce(lambda one, other: one.union(other), frames)
        batch = session.read.format(format).options(**chosen)
        if schema is not None:
            batch = batch.schema(schema)
        frame = batch.load(list(self.paths))
        if self.is_streaming:
            return as_stream(frame, self.context)
        # A single subtask reads one file after the other.
        return frame.coalesce(1) if self.context.parallelism() == 1 else frame


@dataclass(frozen=True)
class FileKind:
    """A format of Spark's writer.

    Parameters
    ----------
    format : str
        Its name.
    options : mapping
    header : str or None
        The first line of each file, for lines of text.
    """

    format: str
    options: Mapping[str, str] = field(default_factory=dict)
    header: str | None = None


@dataclass(frozen=True)
class PartFiles:
    """Files that the writes of a sink add to a directory.

    They are named as Flink names them: a prefix, what identifies the write, a number and a suffix.
    A micro-batch that is written again after a failure replaces its files.

    Parameters
    ----------
    directory : str
    prefix, suffix : str
        What names of files begin and end with.
    bucket_pattern : str or None
        A pattern of Java's ``DateTimeFormatter``: the time of writing names a directory below, in
        which the files are. None to have them in the directory itself.
    bucket_zone : str or None
        The time zone of the name; None for that of the JVM.
    is_compacted : bool
        Whether all that is written at once is in one file.
    """

    directory: str
    prefix: str = "part"
    suffix: str = ""
    bucket_pattern: str | None = "yyyy-MM-dd--HH"
    bucket_zone: str | None = None
    is_compacted: bool = False

    def named(self, prefix: str, suffix: str) -> PartFiles:
        """Return the same with names that begin and end otherwise."""
        return replace(self, prefix=prefix, suffix=suffix)

    def in_bucket(self, pattern: str | None, zone: str | None) -> PartFiles:
        """Return the same in directories of another pattern."""
        return replace(self, bucket_pattern=pattern, bucket_zone=zone)

    def compacted(self, is_compacted: bool) -> PartFiles:
        """Return the same with one file for each write, or one for each subtask."""
        return replace(self, is_compacted=is_compacted)

    def write(self, frame: DataFrame, files: FileKind, batch_id: int | None) -> None:
        """Write the rows of a frame.

        Parameters
        ----------
        frame : DataFrame
        files : FileKind
        batch_id : int or None
            The number of the micro-batch.
        """
        if self.is_compacted:
            frame = frame.repartition(1)
        options = {f"files.{key}": value for key, value in files.options.items()}
        options |= {
            "directory": self.directory,
            "files": files.format,
            "prefix": self.prefix,
            "suffix": self.suffix,
        }
        if self.bucket_pattern is not None:
            options["bucketPattern"] = self.bucket_pattern
        if self.bucket_zone is not None:
            options["bucketZone"] = self.bucket_zone
        if files.header is not None:
            options["header"] = files.header
        if batch_id is not None:
            options["batch"] = str(batch_id)
        frame.write.format(_WRITER).options(**options).mode("append").save()
