"""Runs a module as the program of spark-submit, as ``python -m`` does.

The module has the namespace of ``__main__`` to itself, also after its last line, for what still
runs then.
"""

from __future__ import annotations

import importlib.util
import os
import sys


def main() -> None:
    """Run the module that the first argument names; the others are its own."""
    sys.path[0] = os.getcwd()
    name = sys.argv[1]
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    get_code = None if spec is None else getattr(spec.loader, "get_code", None)
    if spec is None or get_code is None:
        sys.exit(f"pyflow: there is no module {name!r} that can be run; -pyfs has those to import")
    code = get_code(spec.name)
    sys.argv[:] = [str(spec.origin), *sys.argv[2:]]
    space = vars(sys.modules["__main__"])
    space.clear()
    space.update(__name__="__main__", __file__=spec.origin, __package__=spec.parent)
    space.update(__spec__=spec, __loader__=spec.loader, __doc__=None)
    exec(code, space)


if __name__ == "__main__":
    main()
