"""Brings this package to executors and workers that have not installed it.

Functions inherit from its classes, and modules of functions import it. The plugin's jar has it for
interpreters inside the executor; Python workers see no jar, so that the application sends them a
zip file, as ``addPyFile`` does.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
import threading
import weakref
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyflow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["provide"]

_provided: weakref.WeakSet[Any] = weakref.WeakSet()
_providing = threading.Lock()


def provide(session: SparkSession) -> None:
    """Send the package to the workers of an application, once.

    Not in local mode, where they have the driver's environment, and not over Spark Connect, where
    files belong to a session: functions with files of one session run in process mode only.

    Parameters
    ----------
    session : SparkSession
    """
    if not hasattr(session, "_jsparkSession"):
        return
    context = session.sparkContext
    is_local = str(context.master).split("[")[0] == "local"
    with _providing:
        if is_local or context in _provided:
            return
        context.addPyFile(_written())
        _provided.add(context)


@functools.cache
def _written() -> str:
    """Return a zip file of the package without the jar, which Spark reads while the driver runs."""
    directory = tempfile.mkdtemp(prefix="pyflow-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    package = Path(pyflow.__file__).parent
    path = Path(directory) / f"pyflow-{pyflow.__version__}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for source in sorted(package.rglob("*.py")):
            file.write(source, source.relative_to(package.parent).as_posix())
    return str(path)
