"""The directories of checkpoints and savepoints.

Spark notices that a program does not fit a checkpoint when it has written to it. So each query has
a manifest beside its checkpoint, which is compared before it starts. It holds from the first batch
on that is committed; until then, that before it does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyflow.datastream.graph.manifest import Manifest
from pyflow.session.kept_rows import KeptRows
from pyflow.streaming.jobs.spark_checkpoint import Directory, SparkCheckpoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Checkpoint", "CheckpointDirectory"]

_FILE = "pyflow-manifest.json"
_MANIFEST = "manifest"
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
        self._files = Directory(session, directory)
        self.directory = directory
        #: What Spark writes.
        self.of_spark = SparkCheckpoint(session, self._files.at("spark"))

    def rows_of(self, source: int, manifest: Manifest) -> KeptRows:
        """Return where the rows are kept that a bounded source of a program has read."""
        path = self._files.at(_ROWS, _digest(manifest), str(source))
        return KeptRows(path, self.of_spark.last_batch() >= 0)

    def exists(self) -> bool:
        """Return whether there is a whole checkpoint."""
        return self._files.exists(_FILE)

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
        is_committed = found["since"] <= self.of_spark.last_batch()
        holds = found[_MANIFEST] if is_committed else found["before"]
        return None if holds is None else Manifest.from_json(holds)

    def write(self, manifest: Manifest) -> None:
        """Write a manifest, where it is another than before, which holds from the next batch on.

        What another program has planned, and not committed, is removed where it does not fit.
        """
        found, before = self._written() or {}, self.manifest()
        last, planned, new = self.of_spark.last_batch(), found.get(_MANIFEST), _as_json(manifest)
        self.of_spark.take_schemas()
        if planned == new:
            return
        if last >= 0:
            if planned is not None and planned["sources"] != new["sources"]:
                self.of_spark.remove_planned()
        elif planned is not None or not found:
            # What an older version has begun goes on.
            self.of_spark.delete()
            for each in self._files.names(_ROWS):
                if each != _digest(manifest):
                    self._files.delete(_ROWS, each)
        kept = None if before is None else _as_json(before)
        made = {_MANIFEST: new, "since": last + 1, "before": kept}
        self._files.write(json.dumps(made, indent=2), _FILE)

    def copy_to(self, directory: str) -> None:
        """Copy the checkpoint into a new directory; it is none before it is whole."""
        text = self._files.text(_FILE)
        assert text is not None
        copy = Checkpoint(self._session, directory)
        # What an interrupted copy left.
        copy.of_spark.delete()
        copy._files.delete(_ROWS)
        self.of_spark.copy_to(copy.of_spark)
        copy.of_spark.take_schemas()
        copy._files.write(text, _FILE)

    def _written(self) -> dict[str, Any] | None:
        text = self._files.text(_FILE)
        return None if text is None else json.loads(text)


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
        self._files = Directory(session, directory.rstrip("/"))

    def checkpoint(self, place: int) -> Checkpoint:
        """Return the checkpoint of a query."""
        return Checkpoint(self._session, self._files.at(str(place)))

    def checkpoints(self) -> dict[int, Checkpoint]:
        """Return those that there are, by their numbers."""
        found = {each: self.checkpoint(each) for each in sorted(self._files.numbers())}
        return {number: each for number, each in found.items() if each.exists()}

    def is_begun(self) -> bool:
        """Return whether checkpoints were written all of which are not there."""
        return self._files.exists(_BEGUN)

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Say that the checkpoints are not all there; they are at the end."""
        self._files.make(_BEGUN)
        yield
        self._files.delete(_BEGUN)


def _digest(manifest: Manifest) -> str:
    return hashlib.sha256(json.dumps(manifest.to_json()).encode()).hexdigest()[:16]


def _as_json(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest as it is read."""
    found: dict[str, Any] = json.loads(json.dumps(manifest.to_json()))
    return found
