"""How functions, elements, keys and values of state are pickled."""

from __future__ import annotations

import functools
import io
import pickle
from typing import Any

from pyspark import cloudpickle
from pyspark.cloudpickle import cloudpickle as _of_classes

__all__ = ["PROTOCOL", "dumps", "dumps_of_program"]

#: Of all Pythons from 3.10 on, so that each of them can read a checkpoint. What is pickled by value
#: has code of the Python that wrote it.
PROTOCOL = 4

_MAKE_CLASS = (_of_classes._make_skeleton_class, _of_classes._make_skeleton_enum)


def dumps(value: Any) -> bytes:
    """Return an object, pickled; classes and functions that no module has are pickled by value.

    Those of the program itself are such ones: executors do not have its ``__main__``.
    """
    try:
        return pickle.dumps(value, PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError):
        return pickle.dumps(_ByValue(dumps_of_program(value)), PROTOCOL)


def dumps_of_program(value: Any) -> bytes:
    """Return an object of the program, pickled; its classes and functions by value if need be.

    The program can import what executors cannot.
    """
    return bytes(cloudpickle.dumps(value, PROTOCOL))


class _ByValue:
    """What becomes an object again by `_loaded`."""

    def __init__(self, pickled: bytes) -> None:
        self._pickled = pickled

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self._pickled,)


def _loaded(pickled: bytes) -> Any:
    return _Unpickler(io.BytesIO(pickled)).load()


class _Unpickler(pickle.Unpickler):
    """Leaves classes as they are that are here already.

    cloudpickle sets their attributes again, to what they were where the object was pickled.
    """

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self._new: list[Any] = []

    def find_class(self, module: str, name: str) -> Any:
        """Return what has a name in a module."""
        found = super().find_class(module, name)
        if found in _MAKE_CLASS:
            return functools.partial(self._made, found)
        return self._filled if found is _of_classes._class_setstate else found

    def _made(self, make: Any, *arguments: Any) -> Any:
        tracker_id = arguments[-2]
        is_new = tracker_id not in _of_classes._DYNAMIC_CLASS_TRACKER_BY_ID
        made = make(*arguments)
        if is_new:
            self._new.append(made)
        return made

    def _filled(self, made: Any, state: Any) -> Any:
        is_new = any(each is made for each in self._new)
        return _of_classes._class_setstate(made, state) if is_new else made
