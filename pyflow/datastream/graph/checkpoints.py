"""The directories of checkpoints and savepoints.

Spark notices that a program does not fit a checkpoint when it has written to it. So each query has
a manifest beside its checkpoint, which is compared before it starts. It holds from the first batch
on that is committed; until then, that before it does.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyflow.datastream.graph.manifest import Manifest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Checkpoint", "checkpoints_in"]

_FILE = "pyflow-manifest.json"
_MANIFEST = "manifest"
_SPARK = "spark"


class Checkpoint:
    """The directory of a query's checkpoint.

    Parameters
    ----------
    session
        Of Spark.
    directory
        It has the manifest, and Spark's own checkpoint in a directory of its own.
    """

    def __init__(self, session: SparkSession, directory: str) -> None:
        self._session = session
        self._jvm: Any = session._jvm
        self._configuration = session._jsparkSession.sessionState().newHadoopConf()
        self.directory = directory

    def _path(self, *parts: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path("/".join((self.directory, *parts)))

    def _files(self) -> Any:
        return self._path().getFileSystem(self._configuration)

    @property
    def of_spark(self) -> str:
        """Return the directory that Spark writes to."""
        return f"{self.directory}/{_SPARK}"

    def exists(self) -> bool:
        """Return whether there is a whole checkpoint."""
        return bool(self._files().exists(self._path(_FILE)))

    def manifest(self) -> Manifest | None:
        """Return the manifest that holds, if there is a checkpoint."""
        found = self._written()
        if found is None:
            return None
        if _MANIFEST not in found:
            # As older versions wrote it.
            return Manifest.from_json(found)
        is_committed = found["since"] <= self._last_batch()
        holds = found[_MANIFEST] if is_committed or found["before"] is None else found["before"]
        return Manifest.from_json(holds)

    def write(self, manifest: Manifest) -> None:
        """Write a manifest, where it is another than before, which holds from the next batch on."""
        found, before = self._written(), self.manifest()
        made = {
            _MANIFEST: manifest.to_json(),
            "since": self._last_batch() + 1,
            "before": None if before is None else before.to_json(),
        }
        # JSON has no tuples.
        text = json.dumps(made, indent=2)
        if found is None or found.get(_MANIFEST) != json.loads(text)[_MANIFEST]:
            self._write(text)

    def copy_to(self, directory: str) -> None:
        """Copy the checkpoint into a new directory; it is none before it is whole."""
        text = self._text()
        assert text is not None
        copy = Checkpoint(self._session, directory)
        path, given = copy._path(_SPARK), self._path(_SPARK)
        # What an interrupted copy left.
        copy._files().delete(path, True)
        copy._files().mkdirs(copy._path())
        self._jvm.org.apache.hadoop.fs.FileUtil.copy(
            self._files(), given, copy._files(), path, False, self._configuration
        )
        copy._write(text)

    def _written(self) -> dict[str, Any] | None:
        text = self._text()
        return None if text is None else json.loads(text)

    def _text(self) -> str | None:
        files, path = self._files(), self._path(_FILE)
        if not files.exists(path):
            return None
        stream = files.open(path)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def _write(self, text: str) -> None:
        """Write the file of the manifest as a whole."""
        managers = self._jvm.org.apache.spark.sql.execution.streaming.checkpointing
        manager = managers.CheckpointFileManager.create(self._path(), self._configuration)
        manager.mkdirs(self._path())
        stream = manager.createAtomic(self._path(_FILE), True)
        try:
            stream.write(bytearray(text.encode()))
        except BaseException:
            stream.cancel()
            raise
        stream.close()

    def _last_batch(self) -> int:
        """Return the number of the last batch that is committed; -1 for none."""
        return max(_numbers(self._files(), self._path(_SPARK, "commits")), default=-1)


def checkpoints_in(session: SparkSession, directory: str) -> dict[int, Checkpoint]:
    """Return the checkpoints of the queries of a job by their numbers."""
    root = Checkpoint(session, directory.rstrip("/"))
    numbers = sorted(_numbers(root._files(), root._path()))
    found = {each: Checkpoint(session, f"{root.directory}/{each}") for each in numbers}
    return {number: each for number, each in found.items() if each.exists()}


def _numbers(files: Any, path: Any) -> list[int]:
    """Return the names in a directory that are numbers."""
    if not files.exists(path):
        return []
    names = (each.getPath().getName() for each in files.listStatus(path))
    return [int(name) for name in names if name.isdecimal()]
