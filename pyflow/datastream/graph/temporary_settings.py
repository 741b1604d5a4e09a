"""Settings that a session has while programs start or run in it, also several at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

__all__ = ["temporary_settings"]


# How long a program waits for others before it says so.
_SILENT_SECONDS = 10.0

_logger = logging.getLogger(__name__)


@dataclass
class _Held:
    """A setting that some programs have given a value.

    Parameters
    ----------
    value
        That they have given it.
    before
        What it was before the first of them; None for its default.
    holders
        How many there are.
    """

    value: str
    before: str | None
    holders: int = 0


# By the session's identity and the setting's key.
_held: dict[tuple[str, str], _Held] = {}
_changed = threading.Condition()


@contextmanager
def temporary_settings(session: Any, values: Mapping[str, str]) -> Iterator[None]:
    """Give settings of a session other values for a while.

    Programs that need the same value have it together; one that needs another waits for them.

    Parameters
    ----------
    session : SparkSession
    values : mapping of str to str
    """
    identity = _identity(session)
    with _changed:
        _wait(identity, values)
        for key, value in values.items():
            held = _held.get((identity, key))
            if held is None:
                held = _held[identity, key] = _Held(value, session.conf.get(key, None))
                session.conf.set(key, value)
            held.holders += 1
    try:
        yield
    finally:
        with _changed:
            for key in values:
                _release(session, identity, key)
            _changed.notify_all()


def _wait(identity: str, values: Mapping[str, str]) -> None:
    """Return when no setting has another value."""

    def others() -> dict[str, str]:
        held = {key: _held.get((identity, key)) for key in values}
        return {k: each.value for k, each in held.items() if each and each.value != values[k]}

    if not _changed.wait_for(lambda: not others(), _SILENT_SECONDS):
        _logger.warning(
            "A program of data streams waits for others of its session, which run with %s, and it "
            "with %s.",
            *(others(), dict(values)),
        )
        _changed.wait_for(lambda: not others())


def _release(session: Any, identity: str, key: str) -> None:
    held = _held[identity, key]
    held.holders -= 1
    if held.holders > 0:
        return
    del _held[identity, key]
    if held.before is None:
        session.conf.unset(key)
    else:
        session.conf.set(key, held.before)


def _identity(session: Any) -> str:
    """Return what tells sessions apart; a classic session may have several objects of Python."""
    if hasattr(session, "_jsparkSession"):
        return str(session._jsparkSession.sessionUUID())
    return str(session.session_id)
