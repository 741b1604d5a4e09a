"""The directories of checkpoints and savepoints.

Spark notices that a program does not fit a checkpoint when it has written to it. So each query has
a manifest beside its checkpoint, which is compared before it starts. It holds from the first batch
on that is committed; until then, that before it does.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyflow.datastream.graph.manifest import Manifest
from pyflow.session.kept_rows import KeptRows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Checkpoint", "CheckpointDirectory"]

_FILE = "pyflow-manifest.json"
_MANIFEST = "manifest"
_SPARK = "spark"
_ROWS = "rows"
_BEGUN = "pyflow-begun"


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

    def rows_of(self, source: int, manifest: Manifest) -> KeptRows:
        """Return where the rows are kept that a bounded source of a program has read."""
        path = f"{self.directory}/{_ROWS}/{_digest(manifest)}/{source}"
        return KeptRows(path, self.last_batch() >= 0)

    def exists(self) -> bool:
        """Return whether there is a whole checkpoint."""
        return bool(self._files().exists(self._path(_FILE)))

    def planned(self) -> Manifest:
        """Return the manifest that was written last, whether its program has committed or not."""
        found = self._written()
        assert found is not None
        return Manifest.from_json(found.get(_MANIFEST, found))

    def manifest(self) -> Manifest | None:
        """Return the manifest that holds; None where nothing has been committed."""
        found = self._written()
        if found is None:
            return None
        if _MANIFEST not in found:
            # As older versions wrote it.
            return Manifest.from_json(found)
        is_committed = found["since"] <= self.last_batch()
        holds = found[_MANIFEST] if is_committed else found["before"]
        return None if holds is None else Manifest.from_json(holds)

    def write(self, manifest: Manifest) -> None:
        """Write a manifest, where it is another than before, which holds from the next batch on.

        What another program has planned, and not committed, is removed where it does not fit.
        """
        found, before, last = self._written(), self.manifest(), self.last_batch()
        planned = None if found is None else found.get(_MANIFEST, found)
        new = _as_json(manifest)
        if planned == new:
            return
        kept = None if before is None else _as_json(before)
        made = {_MANIFEST: new, "since": last + 1, "before": kept}
        if last < 0:
            files = self._files()
            files.delete(self._path(_SPARK), True)
            for each in _names(files, self._path(_ROWS)):
                if each != _digest(manifest):
                    files.delete(self._path(_ROWS, each), True)
        elif planned is not None and planned["sources"] != new["sources"]:
            self._remove_planned(last)
        self._write(json.dumps(made, indent=2))

    def _remove_planned(self, last: int) -> None:
        """Remove the offsets of batches behind the last one that is committed."""
        files = self._files()
        for number in _numbers(files, self._path(_SPARK, "offsets")):
            if number > last:
                files.delete(self._path(_SPARK, "offsets", str(number)), False)
        # Sources of files have a log of their own.
        _, _, *offsets = (self._text(_SPARK, "offsets", str(last)) or "").splitlines() or ("", "")
        for source, offset in enumerate(offsets):
            found = re.fullmatch(r'\{"logOffset":(\d+)\}|-', offset)
            if found is None:
                continue
            read = int(found[1] or -1)
            log = (_SPARK, "sources", str(source))
            for name in _names(files, self._path(*log)):
                batch = name.removesuffix(".compact")
                is_planned = batch.isdecimal() and int(batch) > read
                # Other sources keep the offsets that they began with.
                if is_planned and '"path":' in (self._text(*log, name) or ""):
                    files.delete(self._path(*log, name), False)

    def copy_to(self, directory: str) -> None:
        """Copy the checkpoint into a new directory; it is none before it is whole."""
        text = self._text(_FILE)
        assert text is not None
        copy = Checkpoint(self._session, directory)
        path, given = copy._path(_SPARK), self._path(_SPARK)
        # What an interrupted copy left.
        for each in (_SPARK, _ROWS):
            copy._files().delete(copy._path(each), True)
        copy._files().mkdirs(copy._path())
        self._jvm.org.apache.hadoop.fs.FileUtil.copy(
            self._files(), given, copy._files(), path, False, self._configuration
        )
        copy._take_schemas()
        copy._write(text)

    def _take_schemas(self) -> None:
        """Have Spark's operators read the schemas of their state here, not where they were."""
        files, states = self._files(), self._path(_SPARK, "state")
        here = self._path(_SPARK).makeQualified(files.getUri(), files.getWorkingDirectory())
        for operator in _numbers(files, states):
            metadata = (_SPARK, "state", str(operator), "_metadata", "v2")
            for name in _names(files, self._path(*metadata)):
                text = self._text(*metadata, name) or ""
                paths = re.compile(rf'"[^"]*(/state/{operator}/_stateSchema/[^"]*)"')
                self._write(paths.sub(lambda found: f'"{here}{found[1]}"', text), *metadata, name)

    def _written(self) -> dict[str, Any] | None:
        text = self._text(_FILE)
        return None if text is None else json.loads(text)

    def _text(self, *parts: str) -> str | None:
        files, path = self._files(), self._path(*parts)
        if not files.exists(path):
            return None
        stream = files.open(path)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def _write(self, text: str, *parts: str) -> None:
        """Write a file, that of the manifest by default, as a whole."""
        managers = self._jvm.org.apache.spark.sql.execution.streaming.checkpointing
        manager = managers.CheckpointFileManager.create(self._path(), self._configuration)
        manager.mkdirs(self._path())
        stream = manager.createAtomic(self._path(*(parts or (_FILE,))), True)
        try:
            stream.write(bytearray(text.encode()))
        except BaseException:
            stream.cancel()
            raise
        stream.close()

    def last_batch(self) -> int:
        """Return the number of the last batch that is committed; -1 for none."""
        return max(_numbers(self._files(), self._path(_SPARK, "commits")), default=-1)


class CheckpointDirectory:
    """Where the queries of a job have their checkpoints, or its savepoint.

    Parameters
    ----------
    session
        Of Spark.
    directory
        It has a directory for each query.
    """

    def __init__(self, session: SparkSession, directory: str) -> None:
        self._session = session
        self._root = Checkpoint(session, directory.rstrip("/"))

    def checkpoint(self, place: int) -> Checkpoint:
        """Return the checkpoint of a query."""
        return Checkpoint(self._session, f"{self._root.directory}/{place}")

    def checkpoints(self) -> dict[int, Checkpoint]:
        """Return those that there are, by their numbers."""
        numbers = sorted(_numbers(self._root._files(), self._root._path()))
        found = {each: self.checkpoint(each) for each in numbers}
        return {number: each for number, each in found.items() if each.exists()}

    def is_begun(self) -> bool:
        """Return whether checkpoints were written all of which are not there."""
        return bool(self._root._files().exists(self._root._path(_BEGUN)))

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Say that the checkpoints are not all there; they are at the end."""
        files, mark = self._root._files(), self._root._path(_BEGUN)
        files.mkdirs(mark)
        yield
        files.delete(mark, True)


def _digest(manifest: Manifest) -> str:
    return hashlib.sha256(json.dumps(manifest.to_json()).encode()).hexdigest()[:16]


def _as_json(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest as it is read."""
    found: dict[str, Any] = json.loads(json.dumps(manifest.to_json()))
    return found


def _numbers(files: Any, path: Any) -> list[int]:
    """Return the names in a directory that are numbers."""
    return [int(name) for name in _names(files, path) if name.isdecimal()]


def _names(files: Any, path: Any) -> list[str]:
    if not files.exists(path):
        return []
    return [each.getPath().getName() for each in files.listStatus(path)]
