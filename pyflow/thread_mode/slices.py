"""Makes blocking calls of the standard library interruptible.

CPython raises an exception in a thread only after the thread has returned from C code. Calls that
may block there for long wait in short slices instead, between which they hold no lock. Only threads
of tasks are interrupted; threads that functions start wait as usual.
"""

from __future__ import annotations

import functools
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

__all__ = ["acquire", "install"]

_SECONDS = 0.1


def install() -> None:
    """Make the blocking calls of the standard library wait in slices."""
    time.sleep = _sleep_in_slices(time.sleep)
    thread_class: Any = threading.Thread
    thread_class.join = _join_in_slices(thread_class.join)
    any_queue: Any = queue
    any_queue.SimpleQueue = _SimpleQueue


def acquire(lock: Any, timeout: float) -> bool:
    """Acquire a lock within so many seconds; -1 for any number."""
    if not _in_thread_of_task():
        return bool(lock.acquire(True, timeout))
    end = None if timeout < 0 else time.monotonic() + timeout
    while True:
        rest = _SECONDS if end is None else max(0.0, min(_SECONDS, end - time.monotonic()))
        if lock.acquire(True, rest):
            return True
        if rest < _SECONDS:
            return False


def _in_thread_of_task() -> bool:
    """Whether this is no thread that Python has started."""
    return isinstance(threading.current_thread(), threading._DummyThread)


def _sleep_in_slices(sleep: Callable[[Any], None]) -> Callable[[Any], None]:
    def sliced(seconds: Any, /) -> None:
        if not seconds > _SECONDS:
            sleep(seconds)
            return
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0:
            sleep(min(rest, _SECONDS))

    sliced.__name__ = sliced.__qualname__ = "sleep"
    sliced.__module__ = "time"
    sliced.__doc__ = sleep.__doc__
    return sliced


def _join_in_slices(join: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(join)
    def sliced(thread: threading.Thread, timeout: float | None = None) -> None:
        if not _in_thread_of_task():
            join(thread, timeout)
            return
        join(thread, 0)
        end = None if timeout is None else time.monotonic() + timeout
        while thread.is_alive():
            rest = _SECONDS if end is None else max(0.0, min(_SECONDS, end - time.monotonic()))
            _await_end(thread, rest)
            join(thread, 0)
            if rest < _SECONDS:
                return

    return sliced


def _await_end(thread: Any, seconds: float) -> None:
    """As `Thread.join`, but waits in C code that is called from here."""
    handle = getattr(thread, "_os_thread_handle", None)  # 3.14
    handle = handle or getattr(thread, "_handle", None)  # 3.13
    if handle is not None:
        handle.join(seconds)
        return
    lock = thread._tstate_lock  # before 3.13; None if the thread has ended
    if lock is not None and lock.acquire(True, seconds):
        lock.release()


class _SimpleQueue(queue.SimpleQueue):  # type: ignore[type-arg]
    """``queue.SimpleQueue``."""

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        if not block or not _in_thread_of_task():
            return super().get(block, timeout)
        if timeout is not None and timeout < 0:
            raise ValueError("'timeout' must be a non-negative number")
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            rest = _SECONDS if end is None else max(0.0, min(_SECONDS, end - time.monotonic()))
            try:
                return super().get(True, rest)
            except queue.Empty:
                if rest < _SECONDS:
                    raise


_SimpleQueue.__name__ = _SimpleQueue.__qualname__ = "SimpleQueue"
_SimpleQueue.__module__ = "queue"
