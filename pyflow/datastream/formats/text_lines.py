"""Lines of text in any of Java's encodings; the functions run on executors."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

from pyflow.datastream.formats.rows import Compiled
from pyflow.datastream.runtime.printing import java_text
from pyflow.util.charsets import java_decoded, java_encoding

if TYPE_CHECKING:
    from pyflow.common.typeinfo import TypeInformation

__all__ = ["LineDecoder", "LineEncoder", "TextDecoder", "is_read_whole"]


def is_read_whole(charset: str) -> bool:
    """Return whether the bytes of a line end may be part of other characters."""
    return codecs.lookup(charset).name.startswith(("utf-16", "utf-32"))


@dataclass(frozen=True)
class LineDecoder:
    """Makes texts of the bytes of lines."""

    charset: str

    def __call__(self, line: bytes) -> Iterable[tuple[str, int | None]]:
        """Return the text."""
        return ((bytes(line).decode(self.charset, "replace"), None),)


@dataclass(frozen=True)
class TextDecoder:
    """Makes texts of the bytes of whole files."""

    charset: str

    def __call__(self, content: bytes) -> Iterable[tuple[str, int | None]]:
        """Return the lines."""
        text = java_decoded(bytes(content), self.charset)
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if not lines[-1]:
            lines.pop()
        return zip(lines, repeat(None))


class LineEncoder(Compiled):
    """Makes the bytes of lines: elements as Java writes them, objects of any kind as Python does.

    Parameters
    ----------
    charset : str
        Characters that it does not have become ``?``.
    type_info : TypeInformation or None
        Of the elements.
    """

    def __init__(self, charset: str, type_info: TypeInformation | None) -> None:
        self._charset, self._mark = java_encoding(charset)
        self._type_info = type_info

    def __call__(self, value: Any, timestamp: int | None) -> tuple[bytes]:
        """Return the bytes of the line, without its end."""
        text: Callable[[Any], str] = self.made("text", lambda: java_text(self._type_info))
        return (self._mark + text(value).encode(self._charset, "replace"),)
