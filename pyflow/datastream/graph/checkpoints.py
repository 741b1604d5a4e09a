"""What a checkpoint says of the program that wrote it, and savepoints.

Spark notices that a program does not fit a checkpoint when it has written to it. So each query has
a manifest beside its checkpoint, which is compared before it starts: the numbers of its operators
with state, which stand in the state, their stages, its sources and its parallelism.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyflow.datastream.graph.transformations import SourceOf, Stateful

__all__ = ["Checkpoint", "IncompatibleProgramError", "Manifest"]

_FILE = "pyflow-manifest.json"
_SPARK = "spark"


class IncompatibleProgramError(TableException):
    """A program cannot go on from a checkpoint; the checkpoint is as it was."""


@dataclass
class Manifest:
    """What of a program stands in its state.

    Parameters
    ----------
    parallelism
        Of all operators with state.
    sources
        The identities of its sources.
    operators
        By the identity of each operator with state: its number, the number of its stage and what it
        does.
    """

    parallelism: int
    sources: list[str] = field(default_factory=list)
    operators: dict[str, dict[str, Any]] = field(default_factory=dict)

    @staticmethod
    def of(
        sources: Sequence[SourceOf],
        operators: Sequence[Stateful],
        levels: dict[int, int],
        parallelism: int,
    ) -> Manifest:
        """Return that of a program that has no checkpoint yet."""
        found = Manifest(parallelism, _identities(sources))
        for number, (name, each) in enumerate(zip(_identities(operators), operators), 1):
            found.operators[name] = {
                "number": number,
                "stage": levels[each.number],
                "name": each.name,
                "operation": each.operation,
            }
        return found

    def numbers(self, operators: Sequence[Stateful]) -> dict[int, int]:
        """Return the numbers of operators with state, by those of the transformations."""
        return {
            each.number: int(self.operators[name]["number"])
            for name, each in zip(_identities(operators), operators)
        }

    def followed_by(self, program: Manifest, ignores_unclaimed: bool) -> Manifest:
        """Return that of a changed program, which goes on from this one's checkpoint.

        Parameters
        ----------
        program
            That of the changed program, as if it had no checkpoint.
        ignores_unclaimed
            Whether state may be given up whose operator is gone.

        Raises
        ------
        IncompatibleProgramError
            If it cannot.
        """
        if len(self.sources) != len(program.sources):
            raise IncompatibleProgramError(
                f"The checkpoint is of a program with {len(self.sources)} sources, and this one "
                f"has {len(program.sources)}. {_WAY_OUT}"
            )
        stages = [
            max((each["stage"] for each in one.operators.values()), default=0)
            for one in (self, program)
        ]
        if stages[0] != stages[1]:
            raise IncompatibleProgramError(
                f"The checkpoint is of a program with {stages[0]} stages behind shuffles, and this "
                f"one has {stages[1]}. {_WAY_OUT}"
            )
        gone = [name for name in self.operators if name not in program.operators]
        if gone and not ignores_unclaimed:
            names = ", ".join(f"'{self.operators[name]['name']}' ({name})" for name in gone)
            raise IncompatibleProgramError(
                f"The checkpoint has state of operators that this program does not have: {names}. "
                "Give operators the uid() that they had, or set "
                "execution.state-recovery.ignore-unclaimed-state to true to give the state up."
            )
        following = Manifest(self.parallelism, self.sources, dict(self.operators))
        last = max((each["number"] for each in self.operators.values()), default=0)
        for name, described in program.operators.items():
            before = self.operators.get(name)
            if before is None:
                last += 1
                following.operators[name] = {**described, "number": last}
                continue
            # What is known by its position alone may be another operator of the same kind.
            by_name = () if name.startswith(_UID) else ("name",)
            for about in ("stage", "operation", *by_name):
                if before.get(about, described[about]) != described[about]:
                    raise IncompatibleProgramError(
                        f"Operator '{described['name']}' ({name}) is of another {about} than in "
                        f"the checkpoint: {described[about]}, where that has {before[about]}. Give "
                        "operators whose state is kept a uid(), and others another one. "
                        f"{_WAY_OUT}"
                    )
            following.operators[name] = {**described, "number": before["number"]}
        return following


_UID = "uid "
_WAY_OUT = "Start it with another execution.checkpointing.dir, without the state."


def _identities(transformations: Sequence[Any]) -> list[str]:
    """Return what transformations are known by: their uid, or else their position."""
    return [
        f"{_UID}{each.uid}" if each.uid is not None else f"position {place}"
        for place, each in enumerate(transformations, 1)
    ]


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

    def manifest(self) -> Manifest | None:
        """Return the manifest, if there is a checkpoint."""
        files, path = self._files(), self._path(_FILE)
        if not files.exists(path):
            return None
        stream = files.open(path)
        try:
            text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        return Manifest(**json.loads(text))

    def write(self, manifest: Manifest) -> None:
        """Write the manifest as a whole, where it is another than before."""
        if manifest == self.manifest():
            return
        managers = self._jvm.org.apache.spark.sql.execution.streaming.checkpointing
        manager = managers.CheckpointFileManager.create(self._path(), self._configuration)
        manager.mkdirs(self._path())
        stream = manager.createAtomic(self._path(_FILE), True)
        try:
            stream.write(bytearray(json.dumps(vars(manifest), indent=2).encode()))
        except BaseException:
            stream.cancel()
            raise
        stream.close()

    def copy_to(self, directory: str) -> None:
        """Copy the checkpoint into a new directory."""
        self._copy(self.directory, directory)

    def copy_from(self, savepoint: str) -> None:
        """Begin with a copy of another checkpoint.

        Raises
        ------
        IncompatibleProgramError
            If there is no such checkpoint.
        """
        other = self._jvm.org.apache.hadoop.fs.Path(savepoint)
        if not other.getFileSystem(self._configuration).exists(other):
            raise IncompatibleProgramError(f"There is no savepoint at {savepoint!r}.")
        self._copy(savepoint, self.directory)

    def _copy(self, source: str, target: str) -> None:
        made, given = (self._jvm.org.apache.hadoop.fs.Path(each) for each in (target, source))
        self._jvm.org.apache.hadoop.fs.FileUtil.copy(
            given.getFileSystem(self._configuration),
            given,
            made.getFileSystem(self._configuration),
            made,
            False,
            self._configuration,
        )
