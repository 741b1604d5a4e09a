"""Lets two functions that run at once in one interpreter go from step to step together.

Tasks of one interpreter import one module, and so meet here; those of worker processes do not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

_PATIENCE_SECONDS = 60

_changed = threading.Condition()
_places: dict[str, dict[int, float]] = {}

#: A function of the number of its task, 0 or 1, and of what it calls between its steps.
Case = Callable[[int, Callable[[], None]], Any]


def run(cases: Mapping[str, Case], who: int, meeting: str | None) -> dict[str, str]:
    """What each of the functions gives, as text.

    Parameters
    ----------
    cases : mapping
        Functions by name.
    who : int
        The number of the task.
    meeting : str or None
        What the two tasks that run at once have in common; None for a task that runs alone.
    """
    results = {}
    for name, function in cases.items():
        place = None if meeting is None else f"{meeting} {name}"
        steps = iter(range(1, 1000))

        def step(place: str | None = place, steps: Any = steps) -> None:
            if place is not None:
                _reach(place, who, next(steps))

        try:
            step()
            results[name] = repr(function(who, step))
        except Exception as error:
            results[name] = f"{type(error).__name__}: {error}"
        finally:
            if place is not None:
                _reach(place, who, float("inf"))
    return results


def _reach(place: str, who: int, step: float) -> None:
    """Wait until the other task has come as far, or has ended."""
    with _changed:
        places = _places.setdefault(place, {})
        places[who] = step
        _changed.notify_all()
        if step == float("inf"):
            return
        if not _changed.wait_for(lambda: places.get(1 - who, 0) >= step, _PATIENCE_SECONDS):
            raise TimeoutError(f"the other task has not come to step {step} of {place}")
