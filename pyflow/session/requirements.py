"""Packages that functions need, installed once into directories of their own."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = [
    "LOCK_FILE",
    "PREFIX",
    "RequirementsError",
    "archive_of",
    "install",
    "installed",
    "installed_below",
]

#: With what the names of directories begin that executors unpack packages into;
#: `pyflow.thread_mode.application` and `FunctionsSpec` know them by it.
PREFIX = "pyflow-requirements-"

#: In each directory, the packages that were resolved.
LOCK_FILE = "pyflow-requirements.lock"
# How many lines of the installer's messages an error has.
_LINES = 12
# Of a file of requirements: options that name another one, and what is a path.
_READ = re.compile(r"\s*(-r|-c|--requirement|--constraint)")
_LINKS = re.compile(r"\s*(-f|--find-links)")
_OPTION = re.compile(r"^-[rcfe](?=[^-])")
_PATH = re.compile(r"/|^\.")
# What installers do not take from a directory.
_UNUSED = re.compile(r"(^|/)(\.|__pycache__/|[^/]*\.egg-info/)|^build/")
_VERSION = "import sys, sysconfig; print(sys.version, sysconfig.get_platform())"


class RequirementsError(Exception):
    """Packages cannot be installed."""


def installed_below() -> Path:
    """Return where such directories are, for this user."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "pyflow" / "requirements"


def installed(file: Path, packages: Path | None, python: str, directory: Path) -> Path:
    """Return a directory with the packages of a file of requirements.

    It is made once for what the file, and the directory of packages beside it, say, and used by all
    programs that need the same.

    Parameters
    ----------
    file : Path
        The requirements.
    packages : Path or None
        A directory with packages; no others are used then.
    python : str
        The Python that functions run in.
    directory : Path
        Where such directories are.

    Raises
    ------
    RequirementsError
        If the packages cannot be installed.
    """
    found = directory / _digest(file, packages, python)
    if not found.is_dir():
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = found.with_name(f"{found.name}.{os.getpid()}")
        try:
            install(file, packages, python, unfinished)
            if not found.is_dir():
                unfinished.rename(found)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    print(f"Requirements of {file.name}: {', '.join(_versions(found))} in {found}", file=sys.stderr)
    return found


def archive_of(directory: Path, where: Path) -> str:
    """Return an archive of installed packages, as Spark takes it: a file, ``#`` and a name.

    Parameters
    ----------
    directory : Path
        As :func:`installed` returns it.
    where : Path
        Where the file is; it is made once.
    """
    name = f"{PREFIX}{directory.name}"
    archive = where / f"{name}.zip"
    if not archive.exists():
        unfinished = where / f"{name}.{os.getpid()}"
        made = Path(shutil.make_archive(str(unfinished), "zip", root_dir=directory))
        made.rename(archive)
    return f"{archive}#{name}"


def _digest(file: Path, packages: Path | None, python: str) -> str:
    version = subprocess.run([python, "-c", _VERSION], capture_output=True).stdout
    digest = hashlib.sha256(file.read_bytes() + b"\0" + version)
    if packages is not None:
        for each in sorted(packages.iterdir()):
            digest.update(f"\0{each.name} {each.stat().st_size}".encode())
    for stamp in _named_by(file, {file.resolve()}):
        digest.update(f"\0{stamp}".encode())
    return digest.hexdigest()[:32]


def _named_by(file: Path, known: set[Path]) -> Iterator[str]:
    """Yield what changes with the files and directories that a file of requirements names.

    Those of ``-r`` and ``-c`` are read, too. Installers look for a relative path beside the file or
    in the working directory.
    """
    # In an order that is the same in each process.
    bases = dict.fromkeys((file.parent.resolve(), Path.cwd()))
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        for word in re.split(r"[\s=@;]+", re.sub(r"(^|\s)#.*", "", line)):
            name = _OPTION.sub("", word).removeprefix("file://").partition("[")[0]
            for base in bases if name else ():
                path = base / name
                # A name without a slash is a package's, whatever directories there are.
                may_be_directory = _PATH.search(name) or _LINKS.match(line)
                # Words that are no names of files, such as addresses, may be too long for one.
                with suppress(OSError):
                    if path in known or not (
                        path.is_file() or (may_be_directory and path.is_dir())
                    ):
                        continue
                    known.add(path)
                    yield from _stamps(path)
                    if path.is_file() and _READ.match(line):
                        yield from _named_by(path, known)


def _stamps(path: Path) -> Iterator[str]:
    below = (each for each in path.rglob("*") if not _UNUSED.search(str(each.relative_to(path))))
    for each in [path] if path.is_file() else sorted(below):
        if each.is_file():
            found = each.stat()
            yield f"{each} {found.st_size} {found.st_mtime_ns}"


def install(file: Path, packages: Path | None, python: str, target: Path) -> None:
    """Install packages into a directory, with a file about their versions.

    Parameters
    ----------
    file, packages, python
        As :func:`installed` has them.
    target : Path

    Raises
    ------
    RequirementsError
        If they cannot be installed.
    """
    installer = [python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    uv = shutil.which("uv")
    if uv is not None:
        installer = [uv, "pip", "install", "--python", python]
        if any(_named_by(file, {file.resolve()})):
            # It takes a directory for what it was unless its metadata has changed.
            installer.append("--refresh")
    offline = [] if packages is None else ["--no-index", "--find-links", str(packages)]
    command = [*installer, "--target", str(target), *offline, "--requirement", str(file)]
    result = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if result.returncode:
        lines = result.stdout.decode(errors="replace").strip().splitlines()[-_LINES:]
        raise RequirementsError(
            "\n  ".join([f"the packages of {str(file)!r} cannot be installed:", *lines])
        )
    target.mkdir(exist_ok=True)  # Where the file names no packages.
    (target / LOCK_FILE).write_text("".join(f"{each}\n" for each in _versions(target)))


def _versions(directory: Path) -> list[str]:
    names = (each.name.removesuffix(".dist-info") for each in directory.glob("*.dist-info"))
    return ["==".join(name.split("-", 1)) for name in sorted(names)]
