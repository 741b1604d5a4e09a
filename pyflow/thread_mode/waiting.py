"""Makes waits for a ``threading.Condition``, and for what is built on it, interruptible.

`Condition.wait` releases its lock while it waits and takes it again on any exception, so an
interruption is safe at that point. The bridge interrupts no code of this file (`interruption.cc`):
a notification that has been received here is not lost.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from pyflow.thread_mode import slices

__all__ = ["install"]

_thread = threading.local()


def install() -> None:
    """Have ``threading.Condition`` wait for locks that can be interrupted."""
    module: Any = threading
    module._allocate_lock = _Waiter
    condition_class: Any = threading.Condition
    wait = condition_class.wait

    @functools.wraps(wait)
    def wait_or_pass_on(condition: Any, timeout: float | None = None) -> bool:
        _thread.waiter = None
        try:
            return bool(wait(condition, timeout))
        except BaseException:
            waiter: _Waiter | None = _thread.waiter
            if waiter is not None and waiter.notified:
                condition.notify()  # another thread, as this one does not look any more
            raise
        finally:
            _thread.waiter = None

    condition_class.wait = wait_or_pass_on


class _Waiter:
    """The lock that ``Condition.wait`` makes for a thread, and ``Condition.notify`` releases."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.notified = False
        _thread.waiter = self

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not blocking:
            return self._lock.acquire(False)
        return slices.acquire(self._lock, timeout)

    def release(self) -> None:
        self._lock.release()
        self.notified = True

    def locked(self) -> bool:
        return self._lock.locked()
