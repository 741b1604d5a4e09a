"""How long state is kept that is not used: ``table.exec.state.ttl``.

State of a key that has expired counts as gone when the key comes again. That of keys that do not
come is removed by timers. A key has one at most: it is registered with the first state of the key
and, where the state has been used since, anew when it expires. So a key that is used often costs
nothing more.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from pyflow.streaming.runtime.keyed_state import Store, ValueStore

__all__ = ["FOREVER", "ExpiringValue", "Lifetime", "is_over", "timer_at"]


class Lifetime(NamedTuple):
    """How long state is kept.

    Attributes
    ----------
    seconds : float
        Without being used; 0 for ever.
    sweeps : bool
        Whether timers, which are those of a processing time, remove what has expired.
    """

    seconds: float
    sweeps: bool = False

    def expiry(self) -> float:
        """Return when state that is used now expires, in seconds since 1970; 0 for never."""
        return time.time() + self.seconds if self.seconds else 0


#: State is kept until it is removed.
FOREVER = Lifetime(0)


def is_over(expiry: float) -> bool:
    """Return whether state has expired."""
    return bool(expiry) and time.time() >= expiry


def timer_at(expiry: float) -> int:
    """Return the time of the timer that checks state when it expires, in milliseconds."""
    return math.ceil(expiry * 1000)


class ExpiringValue:
    """One object of Python per key, which expires together with other state of the key.

    Of each key the object is read before it is written or removed.

    Parameters
    ----------
    handle : StatefulProcessorHandle
    name : str
    lifetime : Lifetime
    others : sequence of Store
        What is removed with the object. They are flushed by their owner.
    """

    def __init__(
        self, handle: Any, name: str, lifetime: Lifetime, others: Sequence[Store] = ()
    ) -> None:
        self._handle = handle
        self._state = ValueStore(handle, name)
        self._lifetime = lifetime
        self._others = tuple(others)
        self._expiry = 0.0
        self._timer: int | None = None

    def get(self) -> Any:
        """The object; None where there is none, or it has expired."""
        found = self._state.get()
        if found is None:
            self._expiry, self._timer = 0, None
            return None
        value, self._expiry, self._timer = found
        if is_over(self._expiry):
            self.clear()
            return None
        return value

    def put(self, value: Any, used: bool = True, expires: bool = True) -> None:
        """Write the object.

        Parameters
        ----------
        value : object
        used : bool
            Whether it has been used now; otherwise it expires as it would have.
        expires : bool
            Whether it expires at all.
        """
        if not expires:
            self._expiry = 0
        elif used:
            self._expiry = self._lifetime.expiry()
            if self._expiry and self._lifetime.sweeps and self._timer is None:
                self._timer = timer_at(self._expiry)
                self._handle.registerTimer(self._timer)
        self._state.put((value, self._expiry, self._timer))

    def clear(self) -> None:
        """Remove the object and what goes with it."""
        self._state.clear()
        if self._timer is not None:
            self._handle.deleteTimer(self._timer)
            self._timer = None
        for store in self._others:
            store.clear()

    def timer_expired(self, timer: int) -> None:
        """Remove the object where it has not been used, or have it looked at again."""
        found = self._state.get()
        if found is None or found[2] != timer:
            return
        value, expiry, _ = found
        self._timer = None
        if max(time.time(), timer / 1000) >= expiry:
            self.clear()
        else:
            self._timer = timer_at(expiry)
            self._handle.registerTimer(self._timer)
            self._state.put((value, expiry, self._timer))
