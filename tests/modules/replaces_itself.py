"""A module that takes some time to be imported, and then puts an object in its place."""

from __future__ import annotations

import sys
import time
import types

time.sleep(1)


class _Lazy(types.ModuleType):
    def __getattr__(self, name: str) -> int:
        if name != "answer":
            raise AttributeError(name)
        return 42


sys.modules[__name__] = _Lazy(__name__)
