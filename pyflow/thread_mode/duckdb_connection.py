"""DuckDB's default connection, kept once per task.

The functions of ``duckdb`` use a connection to a database in memory, which a worker process has for
itself, unless they are given another one. They look for the variables that a query names in the
frame of their caller, so that no function of Python's may come between.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.module_imports import after_import, importing
from pyflow.thread_mode.task_globals import TaskValue

__all__ = ["install"]

_DEFAULT = ":default:"


def install() -> None:
    """Keep the default connection once DuckDB is imported."""
    after_import("duckdb", _keep)


def _keep(duckdb: Any) -> None:
    connection = _Connection(duckdb)
    for name, function in list(vars(duckdb).items()):
        if _takes_connection(duckdb, name, function):
            setattr(duckdb, name, _Function(function, connection))
    duckdb.default_connection = connection.get
    duckdb.set_default_connection = connection.set
    duckdb.connect = connection.connect


def _takes_connection(duckdb: Any, name: str, function: Any) -> bool:
    """Whether a function of DuckDB has a parameter for the connection."""
    if name.startswith("_") or not callable(function) or isinstance(function, type):
        return False
    if hasattr(duckdb.DuckDBPyConnection, name):
        return True
    try:
        return "connection" in inspect.signature(function).parameters
    except ValueError:  # a function of C that says it in its docstring
        return "connection:" in (function.__doc__ or "")


class _Connection(TaskValue[Any]):
    """The connection of the process, which modules use while they are imported, and of tasks."""

    def __init__(self, duckdb: Any) -> None:
        self._connect = duckdb.connect
        super().__init__(self._connect(_DEFAULT))
        #: Done for each new connection, as by the worker that imports the modules.
        self.of_modules: list[Callable[[Any], Any]] = []

    def get(self) -> Any:
        """The current thread's."""
        task = current_task.current()
        if task is None or importing():
            return self.process
        if self not in task.own:
            task.own.setdefault(self, self._new())
        return task.own[self]

    def _new(self) -> Any:
        made = self._connect()
        for call in self.of_modules:
            with contextlib.suppress(Exception):  # a query of what the module has in variables
                call(made)
        return made

    def connect(self, database: Any = ":memory:", *args: Any, **kwargs: Any) -> Any:
        """As ``duckdb.connect``."""
        if database == _DEFAULT:
            return self.get()
        return self._connect(database, *args, **kwargs)


class _Function:
    """A function that uses the default connection."""

    def __init__(self, function: Callable[..., Any], connection: _Connection) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._connection = connection

    @property
    def __call__(self) -> Callable[..., Any]:
        """What is called: there is no frame of this method then."""
        if current_task.current() is None:
            return self._function
        if importing():
            return self._of_module
        return functools.partial(self._function, connection=self._connection.get())

    def _of_module(self, *args: Any, **kwargs: Any) -> Any:
        if "connection" not in kwargs:
            self._connection.of_modules.append(
                lambda made: self._function(*args, **kwargs, connection=made)
            )
        return self._function(*args, **kwargs)
