"""Describes the running CPython as one to be embedded in a JVM.

Run as a script (``python -I libpython.py``) it prints the answer for that interpreter as
JSON. The build runs it in every Python it finds, ``pyflow doctor`` in the one that Spark will
use, the plugin in the one it embeds, so that all apply the same rules. It therefore imports the
standard library only and uses syntax that old Pythons accept, in order to report that a Python is
too old.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig

OLDEST = (3, 10)
NEWEST = (3, 14)
NO_LIBRARY = "has no shared libpython"


def library() -> str | None:
    """Return the path of this interpreter's shared libpython, or None when there is none."""
    names: list[str] = []
    for variable in ("INSTSONAME", "LDLIBRARY"):
        name = sysconfig.get_config_var(variable)
        if name and ".so" in name and name not in names:
            names.append(name)
    # Relocated builds (conda, python-build-standalone, `pyflow env pack`) record the directory of
    # their build, where another Python may be.
    directories = [os.path.join(sys.base_prefix, "lib")]
    libdir = sysconfig.get_config_var("LIBDIR")
    if libdir:
        directories.append(libdir)
        multiarch = sysconfig.get_config_var("MULTIARCH")
        if multiarch:
            directories.append(os.path.join(libdir, multiarch))
    for directory in directories:
        for name in names:
            path = os.path.join(directory, name)
            if os.path.isfile(path):
                return os.path.realpath(path)
    return None


def include() -> str | None:
    """Return the directory of Python.h, or None when the headers are not installed."""
    directory: str | None = sysconfig.get_path("include")
    if directory and os.path.isfile(os.path.join(directory, "Python.h")):
        return directory
    return None


def fault() -> str | None:
    """Return why this interpreter cannot be embedded, or None when it can."""
    if sys.implementation.name != "cpython":
        return "is %s, not CPython" % sys.implementation.name
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        return "is outside %d.%d to %d.%d" % (OLDEST + NEWEST)
    if library() is None:
        return NO_LIBRARY
    return None


def minor() -> str:
    """Return the minor version, by which everything compiled for it is named.

    A free-threaded build has a binary interface of its own, and CPython's mark for it: "3.14t".
    """
    mark = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return "%d.%d" % sys.version_info[:2] + mark


def describe() -> dict[str, object]:
    """Return version, paths and fault of this interpreter."""
    return {
        "executable": sys.executable,
        "prefix": sys.prefix,
        "exec_prefix": sys.exec_prefix,
        "base_prefix": sys.base_prefix,
        "base_exec_prefix": sys.base_exec_prefix,
        "stdlib_dir": getattr(sys, "_stdlib_dir", None) or os.path.dirname(os.__file__),
        "path": [entry for entry in sys.path if entry],
        "version": "%d.%d.%d" % sys.version_info[:3],
        "minor": minor(),
        "library": library(),
        "include": include(),
        "fault": fault(),
    }


if __name__ == "__main__":
    print(json.dumps(describe()))
