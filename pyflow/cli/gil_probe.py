"""Whether importing a module turns the GIL of a free-threaded Python on.

Run as a script by ``pyflow doctor`` in the Python that executors start, it prints the module's name
if it does.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import Any


def is_gil_enabled() -> bool:
    """Whether threads of this process take turns."""
    python: Any = sys
    return not hasattr(python, "_is_gil_enabled") or bool(python._is_gil_enabled())


def main(module: str) -> None:
    """Import a module, if it is there."""
    before = is_gil_enabled()
    with contextlib.suppress(ImportError):
        importlib.import_module(module)
    if is_gil_enabled() and not before:
        print(module)


if __name__ == "__main__":
    main(*sys.argv[1:])
