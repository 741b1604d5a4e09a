"""The checkpoints that Spark writes, as far as they are looked into here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Directory", "SparkCheckpoint"]


class Directory:
    """A directory in a file system of Hadoop.

    Parameters
    ----------
    session
        Of Spark, whose driver is the program's own.
    path
        Of the directory, which need not be there.
    """

    def __init__(self, session: SparkSession, path: str) -> None:
        wrapped: Any = session
        self._session = session
        self._jvm: Any = session._jvm
        self._configuration = wrapped._jsparkSession.sessionState().newHadoopConf()
        self.path = path

    def at(self, *parts: str) -> str:
        """Return the path of something in it."""
        return "/".join((self.path, *parts))

    def _path(self, *parts: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self.at(*parts))

    def _files(self) -> Any:
        return self._path().getFileSystem(self._configuration)

    def exists(self, *parts: str) -> bool:
        """Return whether a file or directory in it is there."""
        return bool(self._files().exists(self._path(*parts)))

    def names(self, *parts: str) -> list[str]:
        """Return the names of what is in a directory in it; none where it is not there."""
        if not self.exists(*parts):
            return []
        return [each.getPath().getName() for each in self._files().listStatus(self._path(*parts))]

    def numbers(self, *parts: str) -> list[int]:
        """Return the names that are numbers."""
        return [int(name) for name in self.names(*parts) if name.isdecimal()]

    def text(self, *parts: str) -> str | None:
        """Return what is in a file in it; None where it is not there."""
        if not self.exists(*parts):
            return None
        stream = self._files().open(self._path(*parts))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, text: str, *parts: str) -> None:
        """Write a file as a whole."""
        managers = self._jvm.org.apache.spark.sql.execution.streaming.checkpointing
        manager = managers.CheckpointFileManager.create(self._path(), self._configuration)
        manager.mkdirs(self._path())
        stream = manager.createAtomic(self._path(*parts), True)
        try:
            stream.write(bytearray(text.encode()))
        except BaseException:
            stream.cancel()
            raise
        stream.close()

    def make(self, *parts: str) -> None:
        """Make a directory in it."""
        self._files().mkdirs(self._path(*parts))

    def delete(self, *parts: str) -> None:
        """Delete a file, or a directory with all that is in it, where it is there."""
        self._files().delete(self._path(*parts), True)

    def copy_to(self, other: Directory) -> None:
        """Copy all to a directory that is not there."""
        files = other._files()
        files.mkdirs(other._path().getParent())
        self._jvm.org.apache.hadoop.fs.FileUtil.copy(
            self._files(), self._path(), files, other._path(), False, self._configuration
        )


class SparkCheckpoint(Directory):
    """The checkpoint of a streaming query."""

    def last_batch(self) -> int:
        """Return the number of the last batch that is committed; -1 for none."""
        return max(self.numbers("commits"), default=-1)

    def take_schemas(self) -> None:
        """Have operators read the schemas of their state here, where it has been copied or moved.

        Spark knows them by whole paths.
        """
        files = self._files()
        here = self._path().makeQualified(files.getUri(), files.getWorkingDirectory())
        for operator in self.numbers("state"):
            paths = re.compile(rf'"[^"]*(/state/{operator}/_stateSchema/[^"]*)"')
            metadata = ("state", str(operator), "_metadata", "v2")
            for name in self.names(*metadata):
                text = self.text(*metadata, name) or ""
                own = paths.sub(lambda found: f'"{here}{found[1]}"', text)
                if own != text:
                    self.write(own, *metadata, name)

    def remove_planned(self) -> None:
        """Remove the offsets of batches behind the last one that is committed."""
        last = self.last_batch()
        for number in self.numbers("offsets"):
            if number > last:
                self.delete("offsets", str(number))
        # Sources of files have a log of their own.
        _, _, *offsets = (self.text("offsets", str(last)) or "").splitlines() or ("", "")
        for source, offset in enumerate(offsets):
            found = re.fullmatch(r'\{"logOffset":(\d+)\}|-', offset)
            if found is None:
                continue
            read = int(found[1] or -1)
            log = ("sources", str(source))
            for name in self.names(*log):
                batch = name.removesuffix(".compact")
                is_planned = batch.isdecimal() and int(batch) > read
                # Other sources keep the offsets that they began with.
                if is_planned and '"path":' in (self.text(*log, name) or ""):
                    self.delete(*log, name)
