"""Makes an interpreter ready for PySpark's functions, before PySpark itself is imported."""

from __future__ import annotations

import contextlib
import importlib.machinery
import os
import pkgutil
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyflow
from pyflow.thread_mode import containment, module_imports, slices, waiting

if TYPE_CHECKING:
    from pyflow.thread_mode.current_task import CurrentTask

__all__ = ["CALLBACKS", "is_isolated", "is_refused", "note_refused", "prepare"]

CALLBACKS = "callbacks of ctypes"

#: Extension modules of the standard library with single-phase initialisation.
_SINGLE_PHASE = {"_curses", "_curses_panel", "_tkinter", "readline"}

_STANDARD_EXTENSIONS = os.path.join(os.path.dirname(os.__file__), "lib-dynload") + os.sep

_isolated = False

#: Finds the current thread's task, once the interpreter is ready for one.
_current_task: Callable[[], CurrentTask | None] | None = None


def prepare(
    isolated: bool,
    log: Callable[[int, bytes], None],
    write_session_log: Callable[[int, bytes], None],
    set_variable: Callable[..., None],
    set_by_functions: list[bytes],
    float_modes_of_thread: Callable[..., int],
    and_then: Callable[[Callable[..., Any], Callable[[], None]], Any],
    written_files: ModuleType,
) -> None:
    """Prepare the current interpreter.

    Parameters
    ----------
    isolated : bool
        Whether the interpreter has a GIL of its own.
    log : callable
        Writes to the executor's log; see `executor_log`.
    write_session_log : callable
        Writes to what a session sees of its functions' logs; see `session_log`.
    set_variable : callable
        Sets or removes a variable for C code of this process.
    set_by_functions : list of bytes
        The names that it has been called with.
    float_modes_of_thread : callable
        Returns and sets the current thread's; see `float_modes`.
    and_then : callable
        Puts two functions together; see `imported_settings`.
    written_files : module
        Keeps which task of this process writes which file; see `process_id`.
    """
    global _current_task, _isolated
    _isolated = isolated
    # The jar has only what runs here; modules of functions may import what is installed, too.
    pyflow.__path__ = pkgutil.extend_path(pyflow.__path__, pyflow.__name__)
    variables: dict[bytes, bytes] = os.environb._data  # type: ignore[attr-defined]
    for name in set_by_functions:
        variables.pop(name, None)
    variables[b"SPARK_PYTHON_RUNTIME"] = b"PYTHON_WORKER"
    containment.install(set_variable)
    if isolated:
        _refuse_unsafe_extensions()
    else:
        # Static types of datetime must be initialised in the main interpreter before any other
        # interpreter imports them (CPython 3.13.0).
        import datetime  # noqa: F401
    slices.install()
    waiting.install()

    from pyflow.thread_mode import (
        connections,
        current_task,
        duckdb_connection,
        environment,
        executor_log,
        float_modes,
        imported_settings,
        log_levels,
        matplotlib_state,
        mpmath_precision,
        output,
        process_id,
        process_settings,
        random_numbers,
        root_logger,
        session_log,
        shared_objects,
        task_globals,
        thread_pools,
        thread_settings,
        torch_state,
        warning_filters,
    )

    _current_task = current_task.current
    current_task.install()
    thread_pools.install()
    module_imports.install(in_turn=not isolated)
    imported_settings.install(and_then)
    environment.install()
    float_modes.install(float_modes_of_thread)
    task_globals.install()
    session_log.install(write_session_log)
    executor_log.install(log)
    root_logger.install()
    log_levels.install()
    output.install()
    random_numbers.install()
    warning_filters.install()
    process_id.install(written_files)
    process_settings.install()
    thread_settings.install()
    torch_state.install()
    connections.install()
    duckdb_connection.install()
    matplotlib_state.install()
    mpmath_precision.install()
    shared_objects.install()
    if isolated:
        module_imports.after_import("ctypes", _refuse_callbacks)
    _import_from_working_directory()


def _import_from_working_directory() -> None:
    """Have modules found as workers find them, which run with ``-m``.

    What has been imported so far is from the jar, whatever is in the directory.
    """
    if not os.environ.get("PYTHONSAFEPATH"):
        with contextlib.suppress(OSError):
            sys.path.insert(0, os.getcwd())


def is_isolated() -> bool:
    """Whether the current interpreter has a GIL of its own."""
    return _isolated


def is_refused(extension: importlib.machinery.ModuleSpec) -> bool:
    """Whether an extension module may not run in isolated interpreters."""
    return (
        not str(extension.origin).startswith(_STANDARD_EXTENSIONS)
        or extension.name in _SINGLE_PHASE
    )


def note_refused(what: str) -> None:
    """Say what the current task needs the shared interpreter for.

    The native bridge then refuses what its functions have done here.

    Parameters
    ----------
    what : str
        Mostly the name of an extension module that has refused this interpreter.
    """
    # What the modules of PyFlow itself are refused, as optional modules of PySpark, is no task's.
    task = _current_task() if _current_task is not None else None
    if task is not None:
        task.refused_imports.append(what)


def _refuse_callbacks(ctypes: Any) -> None:
    """Keep C code from calling functions of this interpreter, and note what tries to let it.

    It calls them with PyGILState_Ensure, which on a thread that Python has not started enters the
    main interpreter, and not this one, whose objects they use.
    """

    class CFuncPtr(ctypes._CFuncPtr):  # type: ignore[misc]
        _flags_ = ctypes._FUNCFLAG_CDECL

        def __new__(cls, *arguments: Any) -> Any:
            if arguments and callable(arguments[0]):
                note_refused(CALLBACKS)
                raise ImportError(f"{CALLBACKS} are not supported in subinterpreters")
            return super().__new__(cls, *arguments)

    ctypes._CFuncPtr = CFuncPtr


def _refuse_unsafe_extensions() -> None:
    """Keep extension modules out of this interpreter that may not run in it, and note them.

    CPython finds out that a module does not support interpreters with their own GIL after the
    module's init has run, and by then some have corrupted the heap (numpy 2.2 on 3.13.0). So only
    the standard library's are let through. A function may catch the ImportError and go on with
    less; the note of it makes the bridge refuse its results all the same. It runs in
    the shared interpreter from then on, where the import works as in a worker process.
    """
    loader: Any = importlib.machinery.ExtensionFileLoader
    create_module = loader.create_module

    def create_safe_module(self: Any, spec: importlib.machinery.ModuleSpec) -> Any:
        if is_refused(spec):
            note_refused(spec.name)
            module_imports.note_refusal()
            raise ImportError(
                f"module {spec.name} does not support loading in subinterpreters",
                name=spec.name,
                path=spec.origin,
            )
        return create_module(self, spec)

    loader.create_module = create_safe_module

    builtin: Any = importlib.machinery.BuiltinImporter
    create_builtin = builtin.create_module

    def note_refusal(spec: importlib.machinery.ModuleSpec) -> Any:
        try:
            return create_builtin(spec)
        except ImportError:
            note_refused(spec.name)
            module_imports.note_refusal()
            raise

    builtin.create_module = note_refusal
