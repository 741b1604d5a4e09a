"""Jobs of one program that write at once into a directory.

Each of Spark's jobs has a temporary directory in that which it writes into; the first job to commit
removes those of the others.
"""

from __future__ import annotations

import os
import re
import threading
from collections import defaultdict

__all__ = ["turn_at"]

_turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


def turn_at(place: str) -> threading.Lock:
    """Return the lock that is held while a job writes.

    Parameters
    ----------
    place : str
        A directory, as a path or a URI, or the name of a table of Spark's.
    """
    path = re.sub("^file:(//)?(?=/)", "", place)
    return _turns[path if ":" in path else os.path.normpath(path)]
