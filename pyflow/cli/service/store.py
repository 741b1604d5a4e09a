"""Artifacts on disk: each is a file in a directory of its own, whose name is the artifact's id.

A file is received beside them, checked, moved into its directory, and noted in the database last.
What the database does not know when the service starts is removed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import IO

from pyflow.cli.service import contents
from pyflow.cli.service.database import Artifact, Database
from pyflow.cli.service.errors import RefusedError
from pyflow.cli.service.limits import Limits

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}")
_CHUNK = 1 << 20
_KINDS = {
    ".py": "python",
    ".zip": "package",
    ".egg": "package",
    ".whl": "package",
    ".jar": "jar",
    ".tar": "archive",
    ".tar.gz": "archive",
    ".tgz": "archive",
    ".tar.bz2": "archive",
    ".tar.xz": "archive",
    ".txt": "requirements",
}


class Store:
    """The artifacts.

    Parameters
    ----------
    directory : Path
    database : Database
    limits : Limits
    """

    def __init__(self, directory: Path, database: Database, limits: Limits) -> None:
        self._files = directory / "artifacts"
        #: Where files are while they are received.
        self.received = directory / "received"
        self._database = database
        self._limits = limits
        self._checks = threading.BoundedSemaphore(2)

    def clean(self) -> None:
        """Remove what was left when the service was killed, and make the directories."""
        shutil.rmtree(self.received, ignore_errors=True)
        for folder in (self._files, self.received):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        known = {each.id for each in self._database.artifacts()}
        for folder in self._files.iterdir():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)
        for each in self._database.artifacts():
            if not self.path(each).is_file():
                self._database.remove_artifact(each.id)

    def path(self, artifact: Artifact) -> Path:
        """Return the file of an artifact."""
        return self._files / artifact.id / artifact.name

    def all(self) -> list[Artifact]:
        """Return the artifacts, the oldest first."""
        return self._database.artifacts()

    def get(self, identifier: str) -> Artifact:
        """Return an artifact.

        Raises
        ------
        RefusedError
            If there is none.
        """
        found = self._database.artifact(identifier)
        if found is None:
            raise RefusedError(404, f"there is no artifact {identifier!r}")
        return found

    def add(self, name: str | None, source: IO[bytes]) -> Artifact:
        """Keep a file; the one that is there already if it has the same name and content.

        Raises
        ------
        RefusedError
            If its name, what is in it, or its size is not as it has to be.
        """
        name = name or ""
        kind = _kind_of(name)
        folder = self.received / uuid.uuid4().hex
        folder.mkdir(mode=0o700)
        try:
            digest, size = self._receive(source, folder / name)
            same = self._database.same_artifact(name, digest)
            if same is not None:
                return same
            self._check(folder / name)
            artifact = Artifact(folder.name, name, kind, size, digest, time.time())
            return self._keep(artifact, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _receive(self, source: IO[bytes], path: Path) -> tuple[str, int]:
        digest = hashlib.sha256()
        size = 0
        with path.open("xb") as file:
            while chunk := source.read(_CHUNK):
                size += len(chunk)
                if size > self._limits.upload:
                    raise RefusedError(413, f"it is larger than {self._limits.upload} bytes")
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if size == 0:
            raise RefusedError(400, f"{path.name}: it is empty")
        return digest.hexdigest(), size

    def _check(self, path: Path) -> None:
        command = [sys.executable, "-I", str(contents.__file__), str(path), path.name]
        with self._checks:
            done = subprocess.run(
                [*command, str(self._limits.unpacked)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
        if done.returncode:
            reason = done.stdout.strip() or "it takes too long to be checked"
            raise RefusedError(400, f"{path.name}: {reason}")

    def _keep(self, artifact: Artifact, folder: Path) -> Artifact:
        with self._database.transaction():
            same = self._database.same_artifact(artifact.name, artifact.digest)
            if same is not None:
                return same
            self._check_room(artifact.size)
            self._database.add_artifact(artifact)
            kept = self._files / artifact.id
            folder.rename(kept)
        return artifact

    def _check_room(self, size: int) -> None:
        present = self._database.artifacts()
        if len(present) >= self._limits.artifacts:
            raise RefusedError(507, f"there are {len(present)} artifacts already: delete some")
        if sum(each.size for each in present) + size > self._limits.store:
            raise RefusedError(
                507, f"artifacts have {self._limits.store} bytes in all: delete some"
            )

    def remove(self, identifier: str) -> None:
        """Remove an artifact.

        Raises
        ------
        RefusedError
            If there is none, or a job that runs needs it.
        """
        with self._database.transaction():
            artifact = self.get(identifier)
            for job in self._database.jobs():
                if job.state is None and identifier in job.artifacts:
                    raise RefusedError(409, f"job {job.id}, which runs, needs {artifact.name}")
            self._database.remove_artifact(identifier)
        shutil.rmtree(self._files / identifier, ignore_errors=True)


def _kind_of(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise RefusedError(
            400, f"{name!r} is no name of a file: letters, digits, '_', '.', '+' and '-'"
        )
    for ending, kind in _KINDS.items():
        if name.endswith(ending) and name != ending:
            return kind
    raise RefusedError(415, f"{name!r} is none of {', '.join(_KINDS)}")
