"""What an interpreter has imported, for those who operate it."""

from __future__ import annotations

import json
import sys

__all__ = ["as_json"]

#: What is there in any case.
_OURS = {"__main__", "pyflow", "pyspark"}


def as_json() -> str:
    """The packages and modules that are not of the standard library, with their versions.

    Returns
    -------
    str
        A JSON array of strings like ``"numpy 2.3.1"``.
    """
    found = []
    for name, module in sorted(sys.modules.copy().items()):
        if "." in name or name in sys.stdlib_module_names or name in _OURS:
            continue
        # Of its own dictionary: a module may compute attributes when they are asked for.
        version = getattr(module, "__dict__", {}).get("__version__")
        found.append(f"{name} {version}" if isinstance(version, str) else name)
    return json.dumps(found)
