"""Files and interpreters that a program names, checked before anything is started."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path

from pyflow.cli.submission.errors import SubmissionError
from pyflow.util.addresses import local_path

_MODULES = (".py", ".zip", ".egg")


def existing(address: str, option: str) -> str:
    """Return an address, or the absolute path of a file of this machine.

    Raises
    ------
    SubmissionError
        If there is no such file.
    """
    path = local_path(address)
    if path is None:
        return address
    if not path.exists():
        raise SubmissionError(f"{option}: there is no file {address!r}")
    return str(path.absolute())


def module_files(addresses: Iterable[str], option: str, staged: Path) -> list[str]:
    """Return files as spark-submit takes them for import.

    Parameters
    ----------
    addresses : iterable of str
        Python files, zip files, eggs, wheels and directories.
    option : str
        What they were given by.
    staged : Path
        Where directories and wheels are packed, under a name that depends on what is in them.
    """
    found = []
    for address in addresses:
        given = existing(address, option)
        path = Path(given)
        if local_path(address) is None or path.suffix in _MODULES:
            found.append(given)
        elif path.is_dir() or path.suffix == ".whl":
            found.append(str(_packed(path, staged)))
        else:
            raise SubmissionError(
                f"{option}: {address!r} is no .py, .zip, .egg or .whl file and no directory; "
                "archives go to -pyarch"
            )
    return found


def _packed(path: Path, staged: Path) -> Path:
    """Return a zip file of what is in a directory or a wheel."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if _is_wanted(file))
        contents = [(file.relative_to(path).as_posix(), file.read_bytes()) for file in files]
    else:
        with zipfile.ZipFile(path) as wheel:
            names = [name for name in wheel.namelist() if not name.endswith("/")]
            contents = [(name, wheel.read(name)) for name in names]
    digest = hashlib.sha256()
    for name, content in contents:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    packed = staged / f"{path.stem}-{digest.hexdigest()[:16]}.zip"
    if not packed.exists():
        staged.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Another command may pack the same.
        unfinished = packed.with_suffix(f".{os.getpid()}")
        try:
            with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, content in contents:
                    archive.writestr(name, content)
            unfinished.replace(packed)
        finally:
            unfinished.unlink(missing_ok=True)
    return packed


def _is_wanted(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts


def interpreter(name: str, option: str) -> str:
    """Return a Python on this machine.

    Raises
    ------
    SubmissionError
        If there is none of this name or path.
    """
    if shutil.which(name) is None:
        raise SubmissionError(f"{option}: there is no executable {name!r} on this machine")
    return name
