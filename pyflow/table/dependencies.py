"""Files that functions need on the executors."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pyflow.util.exceptions import TableException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def add_file(session: SparkSession, path: str) -> None:
    """Let functions import from a file, or from a directory, of which an archive is made."""
    given = Path(path)
    if not given.exists():
        raise TableException(f"add_python_file(): there is no file or directory {path!r}")
    if given.is_dir():
        archive = Path(tempfile.mkdtemp()) / given.name
        given = Path(shutil.make_archive(str(archive), "zip", root_dir=given))
    session.addArtifacts(str(given), pyfile=True)


def add_archive(session: SparkSession, path: str, target: str | None) -> None:
    """Unpack an archive on the executors, under the name given or its own."""
    if not Path(path).is_file():
        raise TableException(f"add_python_archive(): there is no file {path!r}")
    session.addArtifacts(f"{path}#{target or Path(path).name}", archive=True)
