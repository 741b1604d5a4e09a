"""Declares what an interface of PyFlink names and no engine here supports.

Such a function, method or class exists, so that a program that only names it is read, and
``__unsupported__`` holds the reason. Calling it raises `TableException` with that reason.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar, cast

from pyflow.util.exceptions import TableException

T = TypeVar("T", bound=Callable[..., Any])


def unsupported(reason: str) -> Callable[[T], T]:
    """Declare a function, method or class that cannot be supported.

    Parameters
    ----------
    reason : str
        Why, and what to use instead. It ends the sentence "X is not supported: reason".

    Returns
    -------
    callable
        A decorator. Below ``@staticmethod``, ``@classmethod`` and ``@property`` it decorates the
        function. Of a class it declares the constructor and all public methods.
    """

    def declare(declared: T) -> T:
        if isinstance(declared, type):
            return cast(T, _class_that_raises(declared, reason))
        return cast(T, _function_that_raises(cast(FunctionType, declared), reason))

    return declare


def _function_that_raises(function: FunctionType, reason: str) -> FunctionType:
    @wraps(function)
    def raises(*args: Any, **kwargs: Any) -> Any:
        raise TableException(f"{function.__qualname__} is not supported: {reason}")

    raises.__unsupported__ = reason  # type: ignore[attr-defined]
    return cast(FunctionType, raises)


def _class_that_raises(declared: type, reason: str) -> type:
    def constructor(self: object, *args: Any, **kwargs: Any) -> None:
        raise TableException(f"{declared.__qualname__} is not supported: {reason}")

    for name, member in list(vars(declared).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, (staticmethod, classmethod)):
            function = cast(FunctionType, member.__func__)
            setattr(declared, name, type(member)(_function_that_raises(function, reason)))
        elif isinstance(member, FunctionType):
            setattr(declared, name, _function_that_raises(member, reason))
        elif isinstance(member, type):
            _class_that_raises(member, reason)
    declared.__init__ = constructor  # type: ignore[misc]
    declared.__unsupported__ = reason  # type: ignore[attr-defined]
    return declared
