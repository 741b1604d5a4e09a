"""Texts in Java's charsets.

Those of UTF-16 and UTF-32 without a byte order are big-endian where no byte order mark says
otherwise; of the two Java writes the mark of UTF-16.
"""

from __future__ import annotations

import codecs

__all__ = ["java_decoded", "java_encoding"]

_BIG_ENDIAN = {
    "utf-16": ("utf-16-be", codecs.BOM_UTF16_BE),
    "utf-32": ("utf-32-be", b""),
}
_MARKS = {
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}


def java_encoding(charset: str) -> tuple[str, bytes]:
    """Return Python's encoding for what Java writes, and the bytes before each text.

    Raises
    ------
    LookupError
        If there is no such encoding.
    """
    return _BIG_ENDIAN.get(codecs.lookup(charset).name, (charset, b""))


def java_decoded(content: bytes, charset: str) -> str:
    """Return the text of bytes; those that are none of a character become U+FFFD."""
    name = codecs.lookup(charset).name
    if name in _MARKS and not content.startswith(_MARKS[name]):
        name, _ = _BIG_ENDIAN[name]
    return content.decode(name, "replace")
