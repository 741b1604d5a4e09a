"""Files and broadcast variables, which the tasks of an application share in an interpreter.

Applications may follow each other in one JVM, as when a notebook stops its session and starts
another. Broadcast ids then start again at zero, and files of the same name may have other contents:
an application must not see anything of the one before.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import weakref
import zipimport
from collections import OrderedDict
from typing import Any

from pyspark import Broadcast

from pyflow.thread_mode import imported_settings, imports, pyspark_worker
from pyflow.thread_mode.errors import LoadRefusedError

__all__ = ["Application", "current", "end"]

#: How many tasks' broadcast variables are kept for later tasks. Stages that take turns, as those of
#: a stream's batches do, find theirs again.
_KEPT_TASKS = 4

#: With what the names of directories with requirements begin, as `pyflow.session.dependencies`
#: makes them.
_REQUIREMENTS_PREFIX = "pyflow-requirements-"

_switching = threading.Lock()


class Application:
    """A Spark application.

    Parameters
    ----------
    identifier : str
        The application's id.
    """

    def __init__(self, identifier: str) -> None:
        self.identifier = identifier
        self._changing = threading.Lock()
        self._paths: list[str] = []
        # Of the session whose modules an isolated interpreter has now.
        self._session: str | None = None
        self._session_paths: list[str] = []
        # By id and file. Tasks that run at once have one object for a variable.
        self._broadcasts: weakref.WeakValueDictionary[tuple[int, str], SharedBroadcast] = (
            weakref.WeakValueDictionary()
        )
        # The variables that tasks have used, by the task's attempt id, the latest task last.
        self._kept: OrderedDict[int, set[SharedBroadcast]] = OrderedDict()

    def broadcasts(
        self, task_attempt: int, variables: list[tuple[int, str]]
    ) -> dict[int, Broadcast[Any]]:
        """The broadcast variables of a task; their values are read when first used.

        Values stay in memory as long as a task that uses them, and for a few more tasks unless
        Spark has removed their files.

        Parameters
        ----------
        task_attempt : int
            The attempt's id.
        variables : list of tuple
            Ids, and the files with their pickled values.

        Returns
        -------
        dict
            By id.
        """
        let_go = []  # destroyed without the lock: that may run code of the user
        with self._changing:
            found = {
                number: self._broadcasts.setdefault((number, path), SharedBroadcast(path=path))
                for number, path in variables
            }
            if found:
                self._kept.setdefault(task_attempt, set()).update(found.values())
                self._kept.move_to_end(task_attempt)
            while len(self._kept) > _KEPT_TASKS:
                let_go.append(self._kept.popitem(last=False))
            for attempt, used in list(self._kept.items()):
                gone = {variable for variable in used if not os.path.exists(variable.path)}
                if gone:
                    let_go.append((attempt, gone))
                    used -= gone
                    if not used:
                        del self._kept[attempt]
        del let_go
        return dict(found)

    def add_files(self, directory: str, python_includes: list[str]) -> None:
        """Make files of the application importable.

        Parameters
        ----------
        directory : str
            Where they are.
        python_includes : list of str
            Names of zip files and the like.
        """
        with self._changing:
            self._paths += _made_importable(directory, python_includes)

    def use_files_of_session(self, directory: str | None, python_includes: list[str]) -> None:
        """Make files of one session importable, in place of those of another.

        For an isolated interpreter, which has one task at a time.

        Parameters
        ----------
        directory : str or None
            Where they are; None for a session without any.
        python_includes : list of str
            Names of zip files and the like.
        """
        forgotten = []
        with self._changing:
            if self._session not in (None, directory):
                forgotten = _forget(self._session_paths)
                self._session_paths = []
            self._session = directory
            if directory is not None:
                self._session_paths += _made_importable(directory, python_includes)
        if forgotten:
            _release(forgotten)

    def end(self) -> list[Any]:
        """Forget the application's files and variables; return what the caller has to destroy."""
        with self._changing:
            ended: list[Any] = [self._kept, *_forget(self._paths + self._session_paths)]
            self._kept = OrderedDict()
            self._broadcasts.clear()
            self._paths = []
        return ended


class SharedBroadcast(Broadcast[Any]):
    """A broadcast variable whose value is read once for all tasks.

    Parameters
    ----------
    path : str
        The file with the pickled value.
    """

    def __init__(self, *, path: str) -> None:
        super().__init__(path=path)
        self.path = path
        self._reading = threading.Lock()

    @property
    def value(self) -> Any:
        """The value."""
        if not pyspark_worker.is_read(self):
            # In slices, so that a task which waits for another can be interrupted.
            while not self._reading.acquire(timeout=0.1):
                pass
            try:
                return super().value
            finally:
                self._reading.release()
        return super().value


def current(identifier: str) -> Application:
    """The application of a task that begins; another one has ended then."""
    global _current
    with _switching:
        if _current is not None and _current.identifier == identifier:
            return _current
        ended = [] if _current is None else _current.end()
        _current = Application(identifier)
        begun = _current
    if ended:
        _release(ended)
    return begun


def end(identifier: str) -> None:
    """Forget an application that has ended, unless that has been done already.

    Parameters
    ----------
    identifier : str
    """
    global _current
    with _switching:
        if _current is None or _current.identifier != identifier:
            return
        ended, _current = _current.end(), None
    _release(ended)


_current: Application | None = None


def _release(ended: list[Any]) -> None:
    """Destroy what an application had, and give its memory back.

    A block that is in use keeps a whole arena of the allocator from being given back. Cycles of
    objects and the interpreter's lists of free objects have blocks in arenas that are otherwise
    free by now; a full collection releases both.
    """
    ended.clear()
    imports.forget()
    gc.collect()


def _made_importable(directory: str, python_includes: list[str]) -> list[str]:
    """Put a directory and files in it on ``sys.path``; return those that were not there."""
    added = [directory, *(os.path.join(directory, name) for name in python_includes)]
    added = [path for path in added if path not in sys.path]
    for path in added:
        if os.path.basename(path).startswith(_REQUIREMENTS_PREFIX):
            _refuse_other_versions(path)
    for path in added:
        # The only place whose contents are new. To invalidate all caches would have every
        # directory on the path listed again.
        sys.path_importer_cache.pop(path, None)
        sys.path.insert(1, path)
    return added


def _refuse_other_versions(directory: str) -> None:
    """Raise if packages in a directory are loaded already, in another version.

    Raises
    ------
    LoadRefusedError
        What is loaded stays for as long as the interpreter does.
    """
    from importlib import metadata

    for package in metadata.distributions(path=[directory]):
        tops = {file.parts[0].split(".")[0] for file in package.files or ()}
        loaded = next((name for name in sorted(tops) if name in sys.modules), None)
        if loaded is None:
            continue
        try:
            version = metadata.version(package.name)
        except metadata.PackageNotFoundError:
            version = "of no package"
        if version != package.version:
            raise LoadRefusedError(
                f"its requirements have {package.name} {package.version}, and this executor has "
                f"loaded {loaded} {version}"
            )


def _forget(paths: list[str]) -> list[Any]:
    """Take paths from ``sys.path``, and the modules that were imported from there.

    Returns
    -------
    list
        The modules, for the caller to destroy.
    """
    sys.path[:] = [entry for entry in sys.path if entry not in paths]
    places = tuple(os.path.join(os.path.abspath(path), "") for path in paths)
    forgotten = []
    for name, module in list(sys.modules.items()):
        if any(_below(each, places) for each in _origins(module)):
            forgotten.append(sys.modules.pop(name, None))
    imported_settings.forget(lambda origin: _below(origin, places))
    caches: list[dict[str, Any]] = [
        sys.path_importer_cache,
        vars(zipimport)["_zip_directory_cache"],
    ]
    for cache in caches:
        for path in list(cache):
            if _below(path, places):
                cache.pop(path, None)
    return forgotten


def _origins(module: Any) -> list[str]:
    """Where a module is from: its file, or the directories of a namespace package."""
    spec = getattr(module, "__spec__", None)
    origin = getattr(spec, "origin", None)
    if origin is not None:
        return [origin]
    return [str(each) for each in getattr(spec, "submodule_search_locations", None) or ()]


def _below(path: Any, places: tuple[str, ...]) -> bool:
    return isinstance(path, str) and os.path.join(os.path.abspath(path), "").startswith(places)
