"""Checks what is in an uploaded file; a program of its own, whose memory and time are limited.

It is run by its path, and imports nothing of the package. Its arguments are the file, its name and
how many times its own size it may have when it is unpacked; what is wrong is printed, and its exit
code is 1 then.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import posixpath
import resource
import stat
import sys
import tarfile
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from typing import IO, Any

_MEMORY = 1 << 30
_SECONDS = 300
_MEMBERS = 200_000
_CHUNK = 1 << 20
# What an archive may have in any case when it is unpacked.
_SMALL = 10 << 20
_COMPRESSIONS: dict[str, Callable[[str], Any]] = {
    ".tar": partial(open, mode="rb"),
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}


class ContentError(Exception):
    """What is wrong with a file."""


def check(path: str, name: str, times: int) -> None:
    """Check a file.

    Parameters
    ----------
    path : str
    name : str
        Whose ending says what it should be.
    times : int
        How many times its own size an archive may have when it is unpacked.

    Raises
    ------
    ContentError
        If it is not what its name says, or would be unpacked elsewhere, or to too much.
    """
    ending = posixpath.splitext(name)[1]
    if ending in (".py", ".txt"):
        _check_text(path, "Python" if ending == ".py" else "text")
        return
    with open(path, "rb") as file:
        allowed = max(times * file.seek(0, io.SEEK_END), _SMALL)
    unpacked = _Unpacked(allowed)
    if ending in _COMPRESSIONS:
        _check_tar(path, ending, unpacked)
    else:
        _check_zip(path, ending, unpacked)


def _check_text(path: str, kind: str) -> None:
    try:
        with open(path, "rb") as file:
            encoding, _ = tokenize.detect_encoding(file.readline)
        with open(path, encoding=encoding) as text:
            while chunk := text.read(_CHUNK):
                if "\0" in chunk:
                    raise ContentError(f"it is no {kind}: it has null characters")
    except (SyntaxError, UnicodeDecodeError) as error:
        raise ContentError(f"it is no {kind}: {error}") from None


class _Unpacked:
    """What an archive has when it is unpacked, as far as it has been read."""

    def __init__(self, allowed: int) -> None:
        self._allowed = allowed
        self._size = 0
        self._paths: set[str] = set()
        self._links: set[str] = set()

    def grow(self, size: int) -> None:
        self._size += size
        if self._size > self._allowed:
            raise ContentError(f"it is more than {self._allowed} bytes when it is unpacked")

    def add(self, path: str, link: str | None = None, is_hard: bool = False) -> None:
        """Add a member, and where it leads to if it is a link."""
        name = _inside(path)
        if name is None:
            raise ContentError(f"{path!r} would be unpacked outside the archive's directory")
        if len(self._paths) >= _MEMBERS:
            raise ContentError(f"it has more than {_MEMBERS} members")
        self._paths.add(name)
        if link is None:
            return
        target = link if is_hard else posixpath.join(posixpath.dirname(name), link)
        if _inside(target) is None and (is_hard or not _is_interpreter(name)):
            raise ContentError(f"{path!r} is a link to {link!r}, outside the archive's directory")
        self._links.add(name)

    def check_links(self) -> None:
        """Refuse members that would be written through a link."""
        for path in self._paths if self._links else ():
            parent = posixpath.dirname(path)
            while parent:
                if parent in self._links:
                    raise ContentError(f"{path!r} would be unpacked through the link {parent!r}")
                parent = posixpath.dirname(parent)


def _inside(path: str) -> str | None:
    name = posixpath.normpath(path.replace("\\", "/"))
    is_outside = name.startswith(("/", "../")) or name == ".." or "\0" in name
    return None if is_outside else name


def _is_interpreter(name: str) -> bool:
    """Return whether it is a Python of an environment, which links to that of the machine."""
    folder, _, file = name.rpartition("/")
    return posixpath.basename(folder) == "bin" and file.startswith("python")


def _check_zip(path: str, ending: str, unpacked: _Unpacked) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                is_link = stat.S_ISLNK(member.external_attr >> 16)
                link = None
                with archive.open(member) as file:
                    if is_link:
                        link = file.read(_CHUNK).decode(errors="replace")
                    while chunk := file.read(_CHUNK):
                        unpacked.grow(len(chunk))
                unpacked.add(member.filename, link)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        raise ContentError(f"it is no {ending} archive: {error}") from None
    except (RuntimeError, NotImplementedError) as error:  # Encrypted, or compressed otherwise.
        raise ContentError(f"it cannot be unpacked: {error}") from None
    unpacked.check_links()


class _Counted:
    """A file that is unpacked as it is read; headers are read into memory, and must be small."""

    def __init__(self, file: IO[bytes], unpacked: _Unpacked) -> None:
        self._file = file
        self._unpacked = unpacked
        self._position = 0

    def tell(self) -> int:
        return self._position

    def read(self, size: int) -> bytes:
        if size > _CHUNK:
            raise ContentError("a header of it is too large")
        data = self._file.read(size)
        self._position += len(data)
        self._unpacked.grow(len(data))
        return data

    def seek(self, position: int) -> int:
        while self._position < position:
            if not self.read(min(position - self._position, _CHUNK)):
                break
        return self._position


def _check_tar(path: str, ending: str, unpacked: _Unpacked) -> None:
    try:
        with _COMPRESSIONS[ending](path) as file:
            source: Any = _Counted(file, unpacked)
            with tarfile.TarFile(fileobj=source, mode="r") as archive:
                for member in archive:
                    if member.isdev():
                        raise ContentError(
                            f"{member.name!r} is neither a file nor a directory nor a link"
                        )
                    if member.issparse():
                        unpacked.grow(member.size)
                    link = member.linkname if member.issym() or member.islnk() else None
                    unpacked.add(member.name, link, member.islnk())
    except (tarfile.TarError, zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        raise ContentError(f"it is no {ending} archive: {error}") from None
    unpacked.check_links()


def main() -> int:
    """Check the file that the arguments name."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    path, name, times = sys.argv[1:]
    try:
        check(path, name, int(times))
    except ContentError as error:
        print(error)
        return 1
    except (MemoryError, RecursionError):
        print("it takes too much memory to be checked")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
