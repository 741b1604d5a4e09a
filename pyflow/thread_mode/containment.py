"""Keeps functions from changing what all tasks of the executor share.

A worker process runs one task; the executor's JVM runs many. A call that would change the JVM for
all tasks, or end it, is refused with an error that says what to do instead.

Modules make such calls while they are imported, too, for the process that they expect to have for
themselves. What only tunes that process is then not done, without an error; other calls are refused
as ever, and the import is undone.
"""

from __future__ import annotations

import errno
import fcntl
import functools
import importlib
import locale
import os
import resource
import signal
import struct
import sys
import threading
import time
import types
from collections.abc import Callable
from locale import Error as LocaleError
from typing import Any

from pyflow.thread_mode.module_imports import after_import, importing, note_refusal, on_import

__all__ = ["do_nothing", "install", "refuse", "replace_function"]

_INSTEAD = "or run the function in process mode (spark.pyflow.execution-mode=process)"

#: The deepest recursion that a stack of 7 MiB holds: a level of ``sorted(key=...)``, the costliest
#: way found, takes 5 KiB of it (CPython 3.13.0).
_MAX_RECURSION_LIMIT = 1400

#: What `signal.set_wakeup_fd` returns where none was set.
_NO_DESCRIPTOR = -1


#: Functions that would change or end the executor, by module and reason; the reason says what to do
#: instead.
_REFUSED: dict[tuple[str, str], list[str]] = {
    (
        "os",
        "would copy the executor's JVM without its threads; use subprocess, or "
        "multiprocessing.get_context('spawn')",
    ): ["fork", "forkpty"],
    ("os", "would replace the executor's JVM; use subprocess"): ["execv", "execve"],
    ("os", "would end the executor's JVM; raise an exception"): ["_exit", "abort"],
    ("os", "would change the directory of the whole executor; use absolute paths"): [
        *("chdir", "fchdir", "chroot")
    ],
    ("os", "would change the rights of the whole executor; use a subprocess with user and group"): [
        *("setuid", "seteuid", "setreuid", "setresuid"),
        *("setgid", "setegid", "setregid", "setresgid", "setgroups", "initgroups"),
    ],
    ("os", "would move the executor's JVM to another session; use a subprocess"): [
        *("setsid", "setpgrp", "login_tty", "unshare", "setns")
    ],
    ("os", "would close files of the executor; close those that the function has opened"): [
        "closerange"
    ],
    ("signal", "would send a signal to the executor's JVM; use threading.Timer"): [
        *("alarm", "setitimer")
    ],
    ("signal", "would send a signal to the executor's JVM; raise an exception"): [
        *("raise_signal", "pthread_kill")
    ],
    ("signal", "would take signals from the executor's JVM; use a subprocess"): [
        *("sigwait", "sigwaitinfo", "sigtimedwait", "siginterrupt")
    ],
    ("resource", "would limit the whole executor; set limits in its container"): ["setrlimit"],
    ("gc", "would show objects of all tasks; use gc.get_objects()"): ["set_debug"],
}


def do_nothing(*args: Any, **kwargs: Any) -> None:
    """Stands for a function that returns None."""


#: What of these is not done, without an error, for a module that is being imported.
_LEFT_OUT_FOR_MODULES = {"set_debug", "setrlimit", "siginterrupt"}


#: Beginnings of the names of variables that change what the C library does, on any thread.
_OF_THE_C_LIBRARY = (
    *(b"TZ", b"LANG", b"LC_", b"LD_", b"LOCPATH", b"NLSPATH", b"MALLOC_", b"GLIBC_TUNABLES"),
    *(b"HOSTALIASES", b"LOCALDOMAIN", b"RES_OPTIONS"),
)


def install(set_variable: Callable[..., None]) -> None:
    """Replace the functions of the standard library that must not reach the executor.

    Parameters
    ----------
    set_variable : callable
        Sets a variable for C code of the process, or removes it.
    """
    sys.modules["faulthandler"] = _faulthandler_stand_in()
    for (module, reason), names in _REFUSED.items():
        for name in names:
            to_modules = do_nothing if name in _LEFT_OUT_FOR_MODULES else None
            refuse(importlib.import_module(module), name, reason, to_modules=to_modules)
    _refuse_where_it_is_the_executor()
    _refuse_setting_locale()
    _refuse_setting_zone()
    _leave_signals_alone()
    _limit_recursion()
    _keep_environment(set_variable)
    _leave_children_alone()
    _refuse_second_jvm()
    _refuse_seeding_tensorflow()
    _lock_files_by_opening()


def refuse(
    module: types.ModuleType,
    name: str,
    reason: str,
    is_harmless: Callable[..., bool] | None = None,
    to_modules: Callable[..., Any] | None = None,
) -> None:
    """Have a function, if this Python has it, raise an error for all but harmless arguments.

    Parameters
    ----------
    module : module
    name : str
        The function's.
    reason : str
        What it would do, and what to do instead.
    is_harmless : callable, optional
        Whether arguments are let through.
    to_modules : callable, optional
        Takes the place of the function while a module is imported.
    """
    original = getattr(module, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def refused(*args: Any, **kwargs: Any) -> Any:
        if is_harmless is not None and is_harmless(*args, **kwargs):
            return original(*args, **kwargs)
        if to_modules is not None and importing():
            return to_modules(*args, **kwargs)
        note_refusal()
        raise _refusal(module, name, reason)

    replace_function(module, name, refused)


def replace_function(module: types.ModuleType, name: str, replacement: Any) -> None:
    """Replace a function of a module, also where pickle finds it: `os.kill` is `posix.kill`."""
    original = getattr(module, name)
    replacement.__module__ = module.__name__
    for each in (module, sys.modules.get(getattr(original, "__module__", None) or "")):
        if getattr(each, name, None) is original:
            setattr(each, name, replacement)


def _refusal(module: types.ModuleType, name: str, reason: str) -> OSError:
    return OSError(f"{module.__name__}.{name}() {reason}, {_INSTEAD}")


def _refuse_where_it_is_the_executor() -> None:
    """Refuse what is allowed for other processes and for the function's files only."""
    process = os.getpid()
    standard_error = 2

    def is_other(pid: int, *_: Any) -> bool:
        return pid not in (0, process)

    def kills_others(pid: int, signal: int) -> bool:
        return signal == 0 or pid not in (0, -1, process, -os.getpgrp())

    signals = "would send a signal to the executor's JVM; raise an exception"
    refuse(os, "kill", signals, kills_others)
    refuse(
        os, "killpg", signals, lambda group, signal: kills_others(-group if group else 0, signal)
    )
    refuse(signal, "pidfd_send_signal", signals, lambda pidfd, *_: is_other(_pid_of(pidfd)))
    script = "would run a script in the executor's JVM; call a function"
    refuse(sys, "remote_exec", script, is_other)  # 3.14
    session = "would move the executor's JVM to another session; use a subprocess"
    refuse(os, "setpgid", session, is_other)
    priority = "would change the priority of the executor's threads; use a subprocess"
    get_priority = functools.partial(os.getpriority, os.PRIO_PROCESS, 0)
    refuse(os, "nice", priority, lambda increment: increment == 0, lambda _: get_priority())
    refuse(
        os,
        "setpriority",
        priority,
        lambda which, who, *_, **__: which == os.PRIO_PROCESS and is_other(who),
        do_nothing,
    )
    for name in ("sched_setaffinity", "sched_setscheduler", "sched_setparam"):
        refuse(os, name, priority, is_other, do_nothing)
    limits = "would limit the whole executor; set limits in its container"
    get_limits: Any = resource.prlimit
    refuse(
        resource,
        "prlimit",
        limits,
        lambda pid, kind, *new: not new or is_other(pid),
        lambda pid, kind, *_: get_limits(pid, kind),
    )
    files = "would replace a standard stream of the whole executor; redirect sys.stdout, or use "
    refuse(os, "dup2", files + "subprocess", lambda fd, fd2, *_, **__: fd2 > standard_error)
    refuse(os, "close", files + "subprocess", lambda fd: fd > standard_error)


def _leave_children_alone() -> None:
    """Refuse to wait for any child: the JVM has children of its own, and waits for them."""
    reason = "would take the exit of a child that the executor's JVM waits for; wait for a process"
    for name in ("wait", "wait3"):
        refuse(os, name, reason)
    for name in ("waitpid", "wait4"):
        refuse(os, name, reason, lambda pid, *_: pid > 0)
    of_one = {os.P_PID, getattr(os, "P_PIDFD", os.P_PID)}
    refuse(os, "waitid", reason, lambda kind, *_: kind in of_one)


def _refuse_second_jvm() -> None:
    reason = "would start a second JVM in the executor's process; call Java in a subprocess"
    after_import("jpype._core", lambda jpype: refuse(jpype, "startJVM", reason))


def _refuse_seeding_tensorflow() -> None:
    reason = (
        "would seed the random numbers of all tasks, as tf.random.set_seed() and "
        "keras.utils.set_random_seed() do for a process"
    )
    after_import(
        "tensorflow.python.eager.context",
        lambda context: refuse(
            context, "set_global_seed", reason, to_modules=getattr(context, "set_global_seed", None)
        ),
    )


def _pid_of(pidfd: int) -> int:
    with open(f"/proc/self/fdinfo/{pidfd}") as lines:
        return next((int(line[4:]) for line in lines if line.startswith("Pid:")), 0)


def _refuse_setting_locale() -> None:
    setlocale: Any = locale.setlocale
    name_of = vars(locale)["_build_localename"]
    of_environment, plain = "", {"C", "POSIX", "C.UTF-8", "C.utf8"}

    def formats_as(now: str, wanted: Any) -> bool:
        name = wanted if isinstance(wanted, str) else locale.normalize(name_of(wanted))
        categories = {each.rpartition("=")[2] for each in now.split(";")}
        return name == of_environment or {*categories, name} <= plain

    @functools.wraps(setlocale)
    def only_query(category: int, locale: Any = None) -> Any:
        now = setlocale(category)
        if locale is None or locale == now or (importing() and formats_as(now, locale)):
            return now
        note_refusal()
        raise LocaleError(
            "locale.setlocale() would change the locale of the whole executor; "
            f"format with babel or the like, {_INSTEAD}"
        )

    locale.setlocale = only_query


def _refuse_setting_zone() -> None:
    in_process = os.environ.get("TZ")
    reason = "would change the time zone of the whole executor; use zoneinfo.ZoneInfo"
    #: Threads whose module has called it for a zone that may be another one.
    asked: set[int] = set()

    def is_unchanged() -> bool:
        zone = os.environ.get("TZ")
        return zone == in_process or (zone is not None and _is_local(zone))

    def set_later() -> None:
        caller = sys._getframe(2).f_globals.get("__name__")
        if caller != "_strptime":  # which calls it for a zone that a program has set before
            asked.add(threading.get_ident())

    def begin_import() -> Callable[[], None]:
        before = os.environ.get("TZ")

        def end() -> None:
            thread = threading.get_ident()
            if thread not in asked:
                return
            asked.discard(thread)
            if os.environ.get("TZ") != before and not is_unchanged():
                if before is None:
                    os.environ.pop("TZ", None)
                else:
                    os.environ["TZ"] = before
                note_refusal()
                raise _refusal(time, "tzset", reason)

        return end

    on_import.append(begin_import)
    refuse(time, "tzset", reason, is_unchanged, set_later)


def _is_local(zone: str) -> bool:
    """Whether local times of the process are those of a zone."""
    from datetime import datetime, timedelta
    from zoneinfo import ZoneInfo

    half_a_year, end = 182 * 86400, 1 << 31
    try:
        tz = ZoneInfo(zone)
    except (OSError, ValueError, KeyError):
        return False
    for seconds in range(0, end, half_a_year):
        local, there = time.localtime(seconds), datetime.fromtimestamp(seconds, tz)
        if local.tm_zone != there.tzname():
            return False
        if timedelta(seconds=local.tm_gmtoff) != there.utcoffset():
            return False
    return True


def _leave_signals_alone() -> None:
    """Let modules be imported that handle signals, which only the main thread of a process may."""

    def is_refused_by_python(*_: Any, **__: Any) -> bool:
        return not importing()

    for name, answer in (
        ("signal", lambda number, handler: signal.getsignal(number)),
        ("set_wakeup_fd", lambda fd, **_: _NO_DESCRIPTOR),
    ):
        refuse(signal, name, "takes signals from the JVM", is_refused_by_python, answer)


def _lock_files_by_opening() -> None:
    """Have ``fcntl.lockf`` and ``os.lockf`` lock for the opened file, not for the process.

    Locks that belong to the process would not exclude its other tasks, and would be released when
    any task closes the file.
    """
    lockf = fcntl.lockf
    lock_types = {
        fcntl.LOCK_SH: fcntl.F_RDLCK,
        fcntl.LOCK_EX: fcntl.F_WRLCK,
        fcntl.LOCK_UN: fcntl.F_UNLCK,
    }
    region_locks = {
        os.F_LOCK: (fcntl.F_OFD_SETLKW, fcntl.F_WRLCK),
        os.F_TLOCK: (fcntl.F_OFD_SETLK, fcntl.F_WRLCK),
        os.F_ULOCK: (fcntl.F_OFD_SETLK, fcntl.F_UNLCK),
        os.F_TEST: (fcntl.F_OFD_GETLK, fcntl.F_WRLCK),
    }
    layout, no_process = "hhqqixxxx", 0

    def control(fd: Any, command: int, kind: int, whence: int, start: int, length: int) -> int:
        """Lock, unlock or look for a lock; return the kind of the one that is found."""
        lock = struct.pack(layout, kind, whence, start, length, no_process)
        found: int = struct.unpack(layout, fcntl.fcntl(fd, command, lock))[0]
        return found

    @functools.wraps(lockf)
    def lock_opened(fd: Any, cmd: int, len: int = 0, start: int = 0, whence: int = 0, /) -> Any:
        kind = lock_types.get(cmd & ~fcntl.LOCK_NB)
        if kind is None:
            raise ValueError("unrecognized lockf argument")
        command = fcntl.F_OFD_SETLK if cmd & fcntl.LOCK_NB else fcntl.F_OFD_SETLKW
        control(fd, command, kind, whence, start, len)

    @functools.wraps(os.lockf)
    def lock_region(fd: int, command: int, length: int, /) -> None:
        if command not in region_locks:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        operation, kind = region_locks[command]
        found = control(fd, operation, kind, os.SEEK_CUR, 0, length)
        if command == os.F_TEST and found != fcntl.F_UNLCK:
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    fcntl.lockf = lock_opened
    replace_function(os, "lockf", lock_region)


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


def _keep_environment(set_variable: Callable[..., None]) -> None:
    """Have C code see what functions set in ``os.environ``, unless the process has it already.

    C's ``setenv`` must not be called beside other threads: a ``getenv`` in one of them, as in
    ``localtime``, reads freed memory. What the C library itself reads stays: it is of all tasks.
    """

    def put(name: Any, value: Any, /) -> None:
        name, value = os.fsencode(name), os.fsencode(value)
        if not name:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if b"=" in name:
            raise ValueError("illegal environment variable name")
        if not name.startswith(_OF_THE_C_LIBRARY):
            set_variable(name, value)

    def remove(name: Any, /) -> None:
        set_variable(os.fsencode(name))

    os.putenv, os.unsetenv = put, remove
    if hasattr(os, "reload_environ"):  # 3.14
        module: Any = os
        module._create_environ = lambda: dict(module.environ._data)


def _faulthandler_stand_in() -> types.ModuleType:
    """A module in place of ``faulthandler``, whose handlers would replace the JVM's.

    Its functions do nothing. The real module also refuses isolated interpreters.
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
