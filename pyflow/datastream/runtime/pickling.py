"""How elements, keys and values of state are pickled."""

from __future__ import annotations

import pickle
from typing import Any

__all__ = ["PROTOCOL", "dumps"]

#: Of all Pythons from 3.10 on, so that a checkpoint can be read by each of them.
PROTOCOL = 4


def dumps(value: Any) -> bytes:
    """Return an object, pickled; classes and functions that no module has are pickled by value.

    Those of the program itself are such ones: executors do not have its ``__main__``.
    """
    try:
        return pickle.dumps(value, PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError):
        from pyspark import cloudpickle

        return bytes(cloudpickle.dumps(value, PROTOCOL))
