"""Has tasks import modules in turn, and undoes imports that fail for a reason of ours.

A worker process imports on one thread. CPython locks single modules, so that two threads that
import modules of one package in another order find modules that are not finished, in which names
are missing. Here a task waits until another one's import has ended.

A worker ends with its task's import, or has nothing refused. Here an interpreter goes on after
something was refused to a module that was being imported, or after its task was cancelled, and the
next import of the module has to begin anew.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.machinery
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

__all__ = [
    "after_import",
    "import_freely",
    "importing",
    "install",
    "let_others_import",
    "note_refusal",
    "on_import",
    "on_run",
    "on_undo",
]

_BOOTSTRAP = "<frozen importlib._bootstrap>"
_IMPORTLIB = "<frozen importlib._bootstrap_external>"

# An import may wait for a thread that imports, too, and is not known to be started by it.
_MOST_SECONDS = 60.0
# For a package of which nothing is being imported: a module may do other things for long.
_MOST_SECONDS_FOR_OTHERS = 10.0
_SLICE_SECONDS = 0.1

#: Called before a thread begins to import modules; each returns what is called when it ends.
on_import: list[Callable[[], Callable[[], None]]] = []

#: Called before a module runs, also while others do; each returns what is called when it ends.
on_run: list[Callable[[ModuleType], Callable[[], None]]] = []

#: Called with the names of modules whose import is undone.
on_undo: list[Callable[[set[str]], None]] = []

_after_import: dict[str, list[Callable[[ModuleType], None]]] = {}


class _Import:
    """What a thread has imported since its outermost import began."""

    def __init__(self) -> None:
        self.modules: list[str] = []
        self.was_refused = False


class _Turns:
    """Counts the turns of imports."""

    number = 0
    #: The last one that is not waited for any longer, and that only some wait for.
    given_up = long = -1


_thread = threading.local()

#: By thread.
_running: dict[int, _Import] = {}

#: Extension modules that are kept although the import of their packages was undone, by package.
_kept: dict[str, dict[str, ModuleType]] = {}


def importing() -> bool:
    """Whether the current thread runs the code of a module that is being imported."""
    return bool(_running) and threading.get_ident() in _running


def note_refusal() -> None:
    """Have the import that the current thread is in, if any, undone if it fails."""
    running = _running.get(threading.get_ident())
    if running is not None:
        running.was_refused = True


def after_import(name: str, change: Callable[[ModuleType], None]) -> None:
    """Call `change` with a module once it is imported, before its importer goes on."""
    if name in sys.modules:
        change(sys.modules[name])
    _after_import.setdefault(name, []).append(change)


def install(*, in_turn: bool) -> None:
    """Watch the imports of this interpreter.

    Parameters
    ----------
    in_turn : bool
        Whether several tasks import here.
    """
    if in_turn:
        _import_in_turn()
    external: Any = importlib.machinery.SourceFileLoader.__mro__
    source = next(each for each in external if "exec_module" in vars(each))
    for loader in (source, importlib.machinery.ExtensionFileLoader):
        _watch(loader)


def import_freely() -> None:
    """Let the current thread, for which an import may wait, import at any time."""
    _thread.imports_freely = True


def let_others_import() -> None:
    """Have others import beside the current thread, which imports and is about to wait for them."""
    _Turns.given_up = _Turns.number


def _import_in_turn() -> None:
    """Have one thread at a time import what has not been imported yet."""
    bootstrap: Any = importlib._bootstrap
    find_and_load = bootstrap._find_and_load
    turn: Any = threading.RLock()

    def wait(name: str) -> bool:
        number, start = _Turns.number, time.monotonic()
        while not turn.acquire(timeout=_SLICE_SECONDS):
            if _Turns.number != number:
                number, start = _Turns.number, time.monotonic()
            waited = time.monotonic() - start
            if waited >= _MOST_SECONDS:
                _Turns.given_up = _Turns.number
            if waited >= _MOST_SECONDS_FOR_OTHERS:
                _Turns.long = _Turns.number
            if _Turns.given_up == _Turns.number:
                return False
            if _Turns.long == _Turns.number and not _is_being_imported(name):
                return False
        _Turns.number += 1
        return True

    @functools.wraps(find_and_load)
    def in_turn(name: str, import_: Any) -> Any:
        if turn._is_owned() or getattr(_thread, "imports_freely", False):
            return find_and_load(name, import_)
        _thread.imports_freely = not wait(name)
        try:
            return find_and_load(name, import_)
        finally:
            if _thread.imports_freely:
                _thread.imports_freely = False
            else:
                turn.release()

    _as_of_importlib(wait, _BOOTSTRAP)
    bootstrap._find_and_load = _as_of_importlib(in_turn, _BOOTSTRAP)
    _import_again_what_another_thread_could_not(bootstrap)


def _import_again_what_another_thread_could_not(bootstrap: Any) -> None:
    """Have a thread not go on with a module that another thread was importing, and did not end.

    CPython gives it the module that was there when it began to wait.
    """
    wait = bootstrap._lock_unlock_module

    @functools.wraps(wait)
    def lock_unlock_module(name: str) -> None:
        awaited = sys.modules.get(name)
        wait(name)
        if awaited is not None and name not in sys.modules:
            vars(awaited).update(vars(importlib.import_module(name)))

    bootstrap._lock_unlock_module = _as_of_importlib(lock_unlock_module, _BOOTSTRAP)


def _is_being_imported(name: str) -> bool:
    """Whether some module of the same package is."""
    package = name.partition(".")[0]
    return any(
        getattr(getattr(module, "__spec__", None), "_initializing", False)
        for other, module in list(sys.modules.items())
        if other.partition(".")[0] == package
    )


def _as_of_importlib(function: Any, file: str) -> Any:
    """Have tracebacks leave out a function's frames, and interruptions wait for its end."""
    function.__code__ = function.__code__.replace(co_filename=file)
    return function


def _watch(loader: Any) -> None:
    execute = loader.exec_module

    @functools.wraps(execute)
    def exec_module(self: Any, module: ModuleType) -> None:
        with _import(module), _ended([begin(module) for begin in on_run]):
            execute(self, module)
        _stand_for_replacement(module)
        for change in _after_import.get(module.__name__, ()):
            change(module)

    loader.exec_module = _as_of_importlib(exec_module, _IMPORTLIB)


def _stand_for_replacement(module: ModuleType) -> None:
    """Let a module that has put another in its place have the attributes of that.

    CPython gives a thread that began to import it meanwhile the module that was there then. The
    other one may have its attributes from the module itself.
    """
    replacement = sys.modules.get(module.__name__)
    if replacement is None or replacement is module:
        return
    asked: set[tuple[int, str]] = set()

    def attribute(name: str) -> Any:
        key = threading.get_ident(), name
        if key in asked:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        asked.add(key)
        try:
            return getattr(replacement, name)
        finally:
            asked.discard(key)

    vars(module).setdefault("__getattr__", attribute)


@contextlib.contextmanager
def _import(module: ModuleType) -> Iterator[None]:
    for name, extension in _kept.pop(module.__name__, {}).items():
        setattr(module, name, extension)
    thread = threading.get_ident()
    outer = _running.get(thread)
    if outer is not None:
        yield
        outer.modules.append(module.__name__)
        return
    running = _running[thread] = _Import()
    try:
        with _ended([*(begin() for begin in on_import), functools.partial(_running.pop, thread)]):
            yield
    except BaseException as error:
        if running.was_refused or _is_interruption(error):
            _undo(running.modules, module.__name__)
        raise


@contextlib.contextmanager
def _ended(ends: list[Callable[[], Any]]) -> Iterator[None]:
    """A context at whose end all of these are called, in this order."""
    with contextlib.ExitStack() as stack:
        for end in reversed(ends):
            stack.callback(end)
        yield


def _is_interruption(error: BaseException) -> bool:
    return type(error).__module__ == "pyflow.thread_mode"


def _undo(names: list[str], failed: str) -> None:
    """Forget modules, but for extension modules, which a process can initialise once only."""
    undone = {*names, failed}
    for note in on_undo:
        note(undone)
    for name in names:
        module = sys.modules.get(name)
        if module is None:
            continue
        package, _, child = name.rpartition(".")
        parent = None if package in undone else sys.modules.get(package)
        if isinstance(getattr(module, "__loader__", None), importlib.machinery.ExtensionFileLoader):
            if package and parent is None:
                _kept.setdefault(package, {})[child] = module
            continue
        del sys.modules[name]
        if parent is not None and vars(parent).get(child) is module:
            delattr(parent, child)
