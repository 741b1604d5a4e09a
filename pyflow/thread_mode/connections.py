"""SQLite connections that are kept in modules and shared by tasks.

A worker process runs all functions on one thread, as ``sqlite3`` requires. Here tasks use a
connection from their own threads. While a task has a transaction open, the connection is locked for
other tasks, as the database is locked for the connections of other worker processes. A task that
ends leaves an open transaction to the next one, as in a worker; if it fails, the transaction is
rolled back, as with the worker, which ends then. What a module has executed while it was imported
is no task's, and is not undone.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pyflow.thread_mode import current_task
from pyflow.thread_mode.module_imports import after_import, importing

__all__ = ["install"]

T = TypeVar("T")

_WAIT_SECONDS = 0.01
_QUERY = "SELECT"

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
            with self.connection.exclusively(*args[:1]):
                return super().execute(*args)

        def executemany(self, *args: Any) -> Any:
            with self.connection.exclusively():
                return super().executemany(*args)

        def executescript(self, *args: Any) -> Any:
            with self.connection.exclusively():
                return super().executescript(*args)

        # What is at its last row resets its statement, which is another cursor's as well once the
        # connection has found it free.
        def __next__(self) -> Any:
            with self.connection.lock:
                return super().__next__()

        def fetchone(self) -> Any:
            with self.connection.lock:
                return super().fetchone()

        def fetchmany(self, *args: Any, **kwargs: Any) -> Any:
            with self.connection.lock:
                return super().fetchmany(*args, **kwargs)

        def fetchall(self) -> Any:
            with self.connection.lock:
                return super().fetchall()

        def close(self) -> None:
            with self.connection.lock:
                super().close()

    class Connection(sqlite3.Connection):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._timeout = args[_TIMEOUT] if len(args) > _TIMEOUT else kwargs.get("timeout", 5.0)
            self.lock = threading.RLock()
            self._owner: Any = _no_task
            self._is_of_module = False

        @contextlib.contextmanager
        def exclusively(self, statement: str = "") -> Iterator[None]:
            """A context for a statement that must not happen in another task's transaction."""
            task = current_task.current()
            self._acquire(task)
            try:
                if not self.in_transaction:
                    self._is_of_module = False
                if importing():
                    self._is_of_module = True
                elif task is not None and not _reads(statement):
                    self._own(task)
                yield
            finally:
                self.lock.release()

        def _acquire(self, task: Any) -> None:
            end = time.monotonic() + self._timeout
            while True:
                self.lock.acquire()
                if not self._is_of_other(task):
                    return
                self.lock.release()
                if time.monotonic() > end:
                    raise sqlite3.OperationalError("database is locked")
                time.sleep(_WAIT_SECONDS)

        def _is_of_other(self, task: Any) -> bool:
            owner = self._owner()
            return not (owner is None or owner is task or owner.ended) and self.in_transaction

        def _own(self, task: Any) -> None:
            if self._owner() is not task:
                self._owner = weakref.ref(task)
                task.at_failure.append(functools.partial(_roll_back, weakref.ref(self), task))

        def roll_back_of(self, task: Any) -> None:
            """End the transaction of a task that has failed."""
            with self.lock:
                if self._owner() is task and not self._is_of_module:
                    super().rollback()

        def commit(self) -> None:
            self._end_transaction(super().commit)

        def rollback(self) -> None:
            self._end_transaction(super().rollback)

        def __exit__(self, *error: Any) -> Any:
            return self._end_transaction(functools.partial(super().__exit__, *error))

        def _end_transaction(self, end: Callable[[], T]) -> T | None:
            with self.lock:
                # In a worker the task would have no transaction.
                if self._is_of_other(current_task.current()):
                    return None
                result = end()
                self._owner = _no_task
                self._is_of_module = False
                return result

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


def _roll_back(connection: Callable[[], Any], task: Any) -> None:
    if (still_there := connection()) is not None:
        still_there.roll_back_of(task)


def _reads(statement: str) -> bool:
    """Whether a statement begins no transaction that others have to wait for."""
    return statement.lstrip()[: len(_QUERY)].upper() == _QUERY
