"""SQLite connections that are kept in modules and shared by tasks.

A worker process runs all functions on one thread, as ``sqlite3`` requires. Here tasks use a
connection from their own threads. While a task has a transaction open, the connection is locked for
other tasks, as the database is locked for the connections of other worker processes.
"""

from __future__ import annotations

import functools
import threading
import time
import weakref
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.module_imports import after_import

__all__ = ["install"]

_WAIT_SECONDS = 0.01

# Places of arguments of `sqlite3.connect`.
_TIMEOUT = 1
_CHECK_SAME_THREAD = 4


def install() -> None:
    """Let tasks share connections."""
    after_import("sqlite3.dbapi2", _share_connections)


def _share_connections(sqlite3: Any) -> None:
    connect = sqlite3.connect

    class Cursor(sqlite3.Cursor):  # type: ignore[misc]
        def execute(self, *args: Any) -> Any:
            with self.connection.exclusively():
                return super().execute(*args)

        def executemany(self, *args: Any) -> Any:
            with self.connection.exclusively():
                return super().executemany(*args)

        def executescript(self, *args: Any) -> Any:
            with self.connection.exclusively():
                return super().executescript(*args)

    class Connection(sqlite3.Connection):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._timeout = args[_TIMEOUT] if len(args) > _TIMEOUT else kwargs.get("timeout", 5.0)
            self._lock = threading.RLock()
            self._owner: Any = _no_task

        def exclusively(self) -> Any:
            """A context for work that must not happen within another task's transaction."""
            task = current_task.current()
            end = time.monotonic() + self._timeout
            while True:
                self._lock.acquire()
                owner = self._owner()
                if owner is None or owner is task or not self.in_transaction:
                    break
                self._lock.release()
                if time.monotonic() > end:
                    raise sqlite3.OperationalError("database is locked")
                time.sleep(_WAIT_SECONDS)
            self._owner = _no_task if task is None else weakref.ref(task)
            return _Release(self._lock)

        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

        def execute(self, *args: Any) -> Any:
            return self.cursor().execute(*args)

        def executemany(self, *args: Any) -> Any:
            return self.cursor().executemany(*args)

        def executescript(self, *args: Any) -> Any:
            return self.cursor().executescript(*args)

    @functools.wraps(connect)
    def connect_for_tasks(*args: Any, **kwargs: Any) -> Any:
        usual = len(args) <= _CHECK_SAME_THREAD and not {"check_same_thread", "factory"} & {*kwargs}
        if usual and current_task.is_main_thread():
            kwargs.update(check_same_thread=False, factory=Connection)
        return connect(*args, **kwargs)

    sqlite3.connect = connect_for_tasks


def _no_task() -> None:
    return None


class _Release:
    """Releases a lock that is held."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._lock.release()
