"""Settings that Spark's readers and writers take from the session alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOCKS: defaultdict[str, Lock] = defaultdict(Lock)


@contextmanager
def with_setting(session: SparkSession, key: str, value: str) -> Iterator[None]:
    """Give a setting of a session another value for a while, one thread after the other."""
    with _LOCKS[key]:
        # Without a value of its own the session has the default one.
        before = session.conf.getAll.get(key)
        session.conf.set(key, value)
        try:
            yield
        finally:
            if before is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, before)
