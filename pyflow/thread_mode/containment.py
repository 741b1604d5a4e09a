"""Keeps functions from changing what the whole executor shares.

A worker process is the function's own; the executor's JVM is not. What would change it for all
tasks, or end it, is refused with an error that says what to do instead.
"""

from __future__ import annotations

import functools
import locale
import os
import resource
import signal
import subprocess
import sys
import types
from locale import Error as LocaleError
from typing import Any

__all__ = ["install"]

_INSTEAD = "or run the function in process mode (spark.pyflow.execution-mode=process)"

#: The deepest recursion that a stack of 7 MiB holds: a level of ``sorted(key=...)``, the costliest
#: way found, takes 5 KiB of it (CPython 3.13.0).
_MAX_RECURSION_LIMIT = 1400


def install() -> None:
    """Replace the functions of the standard library that must not reach the executor."""
    sys.modules["faulthandler"] = _faulthandler_stand_in()
    for name in ("fork", "forkpty"):
        _refuse(
            os,
            name,
            "would copy the executor's JVM without its threads; use subprocess, or "
            "multiprocessing.get_context('spawn')",
        )
    for name in ("execv", "execve"):
        _refuse(os, name, "would replace the executor's JVM; use subprocess")
    for name in ("chdir", "fchdir", "chroot"):
        _refuse(os, name, "would change the directory of the whole executor; use absolute paths")
    _refuse(os, "umask", "would change the mask of the whole executor; use os.chmod")
    for name in ("alarm", "setitimer"):
        _refuse(signal, name, "would send a signal to the executor's JVM; use threading.Timer")
    _refuse(resource, "setrlimit", "would limit the whole executor; set limits in its container")
    _refuse_setting_locale()
    _limit_recursion()
    _keep_environment()


def _refuse(module: types.ModuleType, name: str, reason: str) -> None:
    original = getattr(module, name)

    @functools.wraps(original)
    def refused(*args: Any, **kwargs: Any) -> Any:
        raise OSError(f"{module.__name__}.{name}() {reason}, {_INSTEAD}")

    setattr(module, name, refused)


def _refuse_setting_locale() -> None:
    setlocale: Any = locale.setlocale

    @functools.wraps(setlocale)
    def only_query(category: int, locale: Any = None) -> Any:
        if locale is None:
            return setlocale(category)
        raise LocaleError(
            "locale.setlocale() would change the locale of the whole executor; "
            f"format with babel or the like, {_INSTEAD}"
        )

    locale.setlocale = only_query


def _limit_recursion() -> None:
    set_limit = sys.setrecursionlimit

    @functools.wraps(set_limit)
    def set_safe_limit(limit: int, /) -> None:
        if limit > _MAX_RECURSION_LIMIT:
            print(
                f"sys.setrecursionlimit({limit}) has set {_MAX_RECURSION_LIMIT}, which is what "
                "the stacks of the executor's threads hold",
                file=sys.stderr,
            )
        set_limit(min(limit, _MAX_RECURSION_LIMIT))

    sys.setrecursionlimit = set_safe_limit


def _keep_environment() -> None:
    """Make changes to ``os.environ`` visible to the task and its subprocesses only.

    C's ``setenv`` must not be called beside other threads: a ``getenv`` in one of them, as in
    ``localtime``, reads freed memory.
    """

    def leave_process_alone(*args: Any) -> None:
        pass

    os.putenv = os.unsetenv = leave_process_alone
    init = subprocess.Popen.__init__
    env = init.__code__.co_varnames.index("env") - 1

    @functools.wraps(init)
    def init_with_environment(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) > env:
            inherited = os.environ if args[env] is None else args[env]
            args = (*args[:env], inherited, *args[env + 1 :])
        elif kwargs.get("env") is None:
            kwargs["env"] = os.environ
        init(self, *args, **kwargs)

    def system(command: Any) -> int:
        status = subprocess.call(command, shell=True)
        return status << 8 if status >= 0 else -status

    subprocess.Popen.__init__ = init_with_environment  # type: ignore[method-assign]
    os.system = system


def _faulthandler_stand_in() -> types.ModuleType:
    """A module in place of ``faulthandler``, whose handlers would take the JVM's own away.

    It never does anything. The real one also refuses isolated interpreters.
    """
    module = types.ModuleType("faulthandler", "Stand-in: the JVM owns the fault signals.")

    def disabled(*args: Any, **kwargs: Any) -> bool:
        return False

    for name in (
        "enable",
        "disable",
        "is_enabled",
        "dump_traceback",
        "dump_traceback_later",
        "cancel_dump_traceback_later",
        "register",
        "unregister",
    ):
        setattr(module, name, disabled)
    return module
