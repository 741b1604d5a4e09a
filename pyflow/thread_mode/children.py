"""Processes that functions start belong to the task, not to the executor.

They get the task's environment and umask, and an empty standard input: a child that reads the
standard input of the executor's JVM may wait for ever.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

from pyflow.thread_mode import current_task
from pyflow.thread_mode.containment import replace_function
from pyflow.thread_mode.module_imports import importing, note_refusal

__all__ = ["end_with_tasks", "install"]

# Places of arguments of `_posixsubprocess.fork_exec`.
_ENVIRONMENT = 5
_INPUT = 6
_MASK = 20 if sys.version_info >= (3, 11) else 19
_PREEXEC_FN = _MASK + 1

_SAME = -1


def install(mask: Callable[[], int]) -> None:
    """Replace the functions of the standard library that start processes.

    Parameters
    ----------
    mask : callable
        The mask for the modes of files that a child begins with, -1 for that of the process.
    """
    import _posixsubprocess

    empty = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    native: Any = _posixsubprocess
    popen: Any = subprocess
    fork_exec = native.fork_exec

    @functools.wraps(fork_exec)
    def fork_exec_for_task(*args: Any) -> Any:
        arguments = list(args)
        if arguments[_PREEXEC_FN] is not None:
            note_refusal()
            raise OSError(
                "preexec_fn would run Python in a copy of the executor's JVM; use "
                "start_new_session, process_group, user, group or umask of subprocess.Popen, or "
                "start a program that does it, or run the function in process mode "
                "(spark.pyflow.execution-mode=process)"
            )
        if arguments[_ENVIRONMENT] is None:
            arguments[_ENVIRONMENT] = [name + b"=" + value for name, value in os.environb.items()]
        if arguments[_INPUT] == _SAME:
            arguments[_INPUT] = empty
        if arguments[_MASK] == _SAME:
            arguments[_MASK] = mask()
        return fork_exec(*arguments)

    native.fork_exec = fork_exec_for_task
    if hasattr(popen, "_fork_exec"):  # 3.11
        popen._fork_exec = fork_exec_for_task
    popen._USE_POSIX_SPAWN = False  # which knows no mask
    for name in ("posix_spawn", "posix_spawnp"):
        replace_function(os, name, _with_empty_input(getattr(os, name)))
    replace_function(os, "system", _system)


def end_with_tasks(process_pools: Any) -> None:
    """End the processes of a ``ProcessPoolExecutor`` that a failed or cancelled task leaves behind.

    They would finish what they were given, which nobody waits for. The executor of a module has
    other users.
    """
    executor: Any = process_pools.ProcessPoolExecutor
    init = executor.__init__

    @functools.wraps(init)
    def init_in_task(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        task = current_task.current()
        if task is not None and not importing():
            pool, processes = weakref.ref(self), self._processes
            task.at_failure.append(functools.partial(_end_without_pool, pool, processes))

    executor.__init__ = init_in_task


def _end_without_pool(pool: Callable[[], Any], processes: dict[int, Any]) -> None:
    if pool() is None:
        for process in list(processes.values()):
            process.terminate()


def _with_empty_input(spawn: Any) -> Any:
    @functools.wraps(spawn)
    def spawn_for_task(
        path: Any, argv: Any, env: Any, /, *, file_actions: Any = (), **kwargs: Any
    ) -> Any:
        first = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        actions = [first, *(file_actions or ())]
        environment = os.environ if env is None else env
        return spawn(path, argv, environment, file_actions=actions, **kwargs)

    return spawn_for_task


def _system(command: Any) -> int:
    status = subprocess.call(command, shell=True)
    return status << 8 if status >= 0 else -status
