"""Floating-point modes of the processor that modules set while they are imported.

The bridge keeps the modes of each operator (``native/src/runtime/float_modes.h``).
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping

from pyflow.thread_mode.imported_settings import Changes, Setting

__all__ = ["install"]

_ALL = (1 << 64) - 1

#: Bits that are set together: how it rounds, whether it flushes results or takes arguments for
#: zero, which exceptions are masked; the modes of the x87 unit.
_FIELDS = {
    "x86_64": (0x6000, 0x8000, 0x0040, 0x1F80, 0xFFFF << 32),
    "aarch64": (0x3 << 22, 0x1 << 24, _ALL & ~(0x7 << 22)),
}


def install(exchange: Callable[..., int]) -> None:
    """Have the modes that modules set while they are imported set for other tasks, too.

    Parameters
    ----------
    exchange : callable
        Returns the modes of the current thread, and sets them to its argument if there is one.
    """
    _FloatModes(exchange, _FIELDS.get(platform.machine(), (_ALL,)))


class _FloatModes(Setting):
    """The modes of the current thread, by the bits that they are in."""

    def __init__(self, exchange: Callable[..., int], fields: tuple[int, ...]) -> None:
        self._exchange = exchange
        self._fields = fields
        super().__init__()

    def get(self) -> Mapping[int, int]:
        modes = self._exchange()
        return {field: modes & field for field in self._fields}

    def apply(self, changes: Changes) -> None:
        modes = self._exchange()
        for field, (_, after) in changes.items():
            modes = modes & ~field | after
        self._exchange(modes)
