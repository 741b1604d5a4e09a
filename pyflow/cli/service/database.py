"""What the service knows after a restart, in SQLite."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TABLES = """
CREATE TABLE IF NOT EXISTS artifacts (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, size INTEGER NOT NULL,
  digest TEXT NOT NULL, uploaded REAL NOT NULL, UNIQUE (name, digest)
) STRICT;
CREATE TABLE IF NOT EXISTS jobs (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, artifacts TEXT NOT NULL, submitted REAL NOT NULL,
  state TEXT, ended REAL
) STRICT;
CREATE TABLE IF NOT EXISTS triggers (
  id TEXT PRIMARY KEY, job TEXT NOT NULL, locations TEXT, failure TEXT
) STRICT;
"""


@dataclass(frozen=True)
class Artifact:
    """A file that was uploaded.

    Parameters
    ----------
    id, name : str
    kind : str
        What it is used as.
    size : int
        Bytes.
    digest : str
        SHA-256 of what is in it.
    uploaded : float
        When, in seconds since 1970.
    """

    id: str
    name: str
    kind: str
    size: int
    digest: str
    uploaded: float


@dataclass(frozen=True)
class JobRow:
    """A job that the service has started.

    Parameters
    ----------
    id, name : str
    artifacts : list of str
        What it needs.
    submitted : float
    state : str, optional
        In which it has ended.
    ended : float, optional
    """

    id: str
    name: str
    artifacts: list[str]
    submitted: float
    state: str | None
    ended: float | None


class Database:
    """Rows of artifacts, jobs and triggers.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.executescript(_TABLES)
        self._lock = threading.RLock()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do all of what follows, or nothing; other threads wait."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    def artifacts(self) -> list[Artifact]:
        """Return all, the oldest first."""
        return [Artifact(*row) for row in self._all("SELECT * FROM artifacts ORDER BY uploaded")]

    def artifact(self, identifier: str) -> Artifact | None:
        """Return the one with this identifier."""
        rows = self._all("SELECT * FROM artifacts WHERE id = ?", identifier)
        return Artifact(*rows[0]) if rows else None

    def same_artifact(self, name: str, digest: str) -> Artifact | None:
        """Return the one of this name with the same content."""
        found = self._all("SELECT * FROM artifacts WHERE name = ? AND digest = ?", name, digest)
        return Artifact(*found[0]) if found else None

    def add_artifact(self, each: Artifact) -> None:
        """Add one."""
        values = (each.id, each.name, each.kind, each.size, each.digest, each.uploaded)
        self._all("INSERT INTO artifacts VALUES (?, ?, ?, ?, ?, ?)", *values)

    def remove_artifact(self, identifier: str) -> None:
        """Remove one."""
        self._all("DELETE FROM artifacts WHERE id = ?", identifier)

    def jobs(self) -> list[JobRow]:
        """Return all, the oldest first."""
        return [_job(row) for row in self._all("SELECT * FROM jobs ORDER BY submitted")]

    def job(self, identifier: str) -> JobRow | None:
        """Return the one with this identifier."""
        found = self._all("SELECT * FROM jobs WHERE id = ?", identifier)
        return _job(found[0]) if found else None

    def add_job(self, each: JobRow) -> None:
        """Add one that is about to be started."""
        values = (each.id, each.name, json.dumps(each.artifacts), each.submitted)
        self._all("INSERT INTO jobs VALUES (?, ?, ?, ?, NULL, NULL)", *values)

    def end_job(self, identifier: str, state: str, ended: float) -> None:
        """Note how one has ended."""
        statement = "UPDATE jobs SET state = ?, ended = ? WHERE id = ?"
        self._all(statement, state, ended, identifier)

    def remove_job(self, identifier: str) -> None:
        """Remove one with its triggers."""
        with self.transaction():
            self._all("DELETE FROM jobs WHERE id = ?", identifier)
            self._all("DELETE FROM triggers WHERE job = ?", identifier)

    def add_trigger(self, identifier: str, job: str) -> None:
        """Add the request to stop a job."""
        self._all("INSERT INTO triggers VALUES (?, ?, NULL, NULL)", identifier, job)

    def end_trigger(
        self, identifier: str, locations: Sequence[str] | None, failure: str | None
    ) -> None:
        """Note from where a job goes on, or why it was not stopped."""
        written = None if locations is None else json.dumps(locations)
        statement = "UPDATE triggers SET locations = ?, failure = ? WHERE id = ?"
        self._all(statement, written, failure, identifier)

    def fail_open_triggers(self, failure: str) -> None:
        """Note of all requests without an answer why they have none."""
        statement = "UPDATE triggers SET failure = ? WHERE locations IS NULL AND failure IS NULL"
        self._all(statement, failure)

    def trigger(self, identifier: str, job: str) -> tuple[list[str] | None, str | None] | None:
        """Return the locations and the failure of a request to stop a job."""
        statement = "SELECT locations, failure FROM triggers WHERE id = ? AND job = ?"
        for locations, failure in self._all(statement, identifier, job):
            return (None if locations is None else json.loads(locations)), failure
        return None


def _job(row: tuple[Any, ...]) -> JobRow:
    identifier, name, artifacts, *rest = row
    return JobRow(identifier, name, json.loads(artifacts), *rest)
