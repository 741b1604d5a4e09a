"""Files that are given by a path or by an address."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["local_path"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def local_path(given: str) -> Path | None:
    """Return the file of this machine that a path or an address names; None for one elsewhere.

    An address of this machine has one slash, as Java writes it, or three: ``file:/a.jar``,
    ``file:///a.jar``.
    """
    if not _ADDRESS.match(given):
        return Path(given)
    parts = urlsplit(given)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None
