"""Levels of loggers, as settings name them."""

from __future__ import annotations

import logging

from pyflow.common.configuration import map_of

__all__ = ["level_of", "levels_of"]

# io.pyflow.config.LogLevels has the same.
_NAMES = {
    "OFF": 100,
    "CRITICAL": logging.CRITICAL,
    "FATAL": logging.FATAL,
    "ERROR": logging.ERROR,
    "WARN": logging.WARNING,
    "WARNING": logging.WARNING,
    "INFO": logging.INFO,
    "DEBUG": logging.DEBUG,
    "TRACE": 5,
    "NOTSET": logging.NOTSET,
}


def level_of(text: str) -> int:
    """Return the number of a level.

    Raises
    ------
    ValueError
        If it is neither a name nor a number.
    """
    name = text.strip().upper()
    if name.isdecimal():
        return int(name)
    if name not in _NAMES:
        raise ValueError(f"{text!r} is no level; levels are {', '.join(_NAMES)} and numbers")
    return _NAMES[name]


def levels_of(text: str) -> dict[str, int]:
    """Return the levels of loggers, of ``name:level,name:level``.

    Raises
    ------
    ValueError
        If it has another form, or a level is invalid.
    """
    return {name: level_of(level) for name, level in map_of(text).items()}
