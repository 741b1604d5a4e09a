"""How long state is kept that is not used: ``table.exec.state.ttl``.

State of a key that has expired counts as gone when the key comes again. That of keys that do not
come is removed by timers. A key has one at most: it is registered with the first state of the key
and, where the state has been used since, anew when it expires. So a key that is used often costs
nothing more.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

__all__ = ["FOREVER", "Life", "Lifetime"]


class Life(NamedTuple):
    """Until when the state of a key is there.

    Attributes
    ----------
    expiry : float
        In seconds since 1970; 0 for ever.
    timer : int or None
        The timer that looks at it, in milliseconds.
    """

    expiry: float
    timer: int | None


FOREVER = Life(0, None)


class Lifetime:
    """How long state is kept.

    Parameters
    ----------
    seconds : float
        Without being used; 0 for ever.
    sweeps : bool
        Whether timers, which are those of a processing time, remove what has expired.
    """

    def __init__(self, seconds: float, sweeps: bool) -> None:
        self._seconds = seconds
        self._sweeps = sweeps and seconds > 0

    def open(self, handle: Any) -> None:
        """Open the timers of a task."""
        self._handle = handle

    def is_over(self, life: Life) -> bool:
        """Whether state has expired."""
        return bool(life.expiry) and time.time() >= life.expiry

    def used(self, timer: int | None) -> Life:
        """The life of state that is used now, and that has a timer already or none."""
        if not self._seconds:
            return FOREVER
        expiry = time.time() + self._seconds
        if self._sweeps and timer is None:
            timer = self._registered(expiry)
        return Life(expiry, timer)

    def removed(self, timer: int | None) -> None:
        """State has been removed before its end."""
        if timer is not None:
            self._handle.deleteTimer(timer)

    def after(self, life: Life, expired: int) -> Life | None:
        """The life of state of which a timer has expired; None where the state has, too."""
        now = max(time.time(), expired / 1000)
        if now >= life.expiry:
            return None
        return Life(life.expiry, self._registered(life.expiry))

    def _registered(self, expiry: float) -> int:
        timer = math.ceil(expiry * 1000)
        self._handle.registerTimer(timer)
        return timer
