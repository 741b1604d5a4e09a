"""A module that puts an object in its place which has the module's attributes, as Twisted does."""

from __future__ import annotations

import sys
import types


class _Wrapped(types.ModuleType):
    def __init__(self, module: types.ModuleType) -> None:
        super().__init__(module.__name__)
        self._module = module

    def __getattr__(self, name: str) -> object:
        return getattr(self._module, name)


answer = 42
sys.modules[__name__] = _Wrapped(sys.modules[__name__])
