"""A package that takes some time to define what its modules import from it."""

from __future__ import annotations

import time

time.sleep(1)
NUMBER = 1

from cyclic.first import FIRST  # noqa: E402

__all__ = ["FIRST", "NUMBER"]
