"""How functions, elements, keys and values of state are pickled."""

from __future__ import annotations

import pickle
from typing import Any

from pyspark import cloudpickle

__all__ = ["dumps", "dumps_of_program"]

# Of all Pythons from 3.10 on, so that a checkpoint can be read by each of them.
_PROTOCOL = 4


def dumps(value: Any) -> bytes:
    """Return an object, pickled; classes and functions that no module has are pickled by value.

    Those of the program itself are such ones: executors do not have its ``__main__``.
    """
    try:
        return pickle.dumps(value, _PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError):
        return dumps_of_program(value)


def dumps_of_program(value: Any) -> bytes:
    """Return an object of the program, pickled; its classes and functions by value if need be.

    The program can import what executors cannot.
    """
    return bytes(cloudpickle.dumps(value, _PROTOCOL))
