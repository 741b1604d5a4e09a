"""Strings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

_PROTOCOLS = frozenset(("http", "https", "ftp", "file", "jar", "mailto"))
_ESCAPES = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f"}
_ESCAPES |= {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def number_of_address(address: str | None) -> int | None:
    """Return the number of an IPv4 address in one to four parts, as MySQL's ``INET_ATON``."""
    if address is None:
        return None
    parts = address.split(".")
    if len(parts) > 4 or not all(re.fullmatch("[0-9]{1,10}", part) for part in parts):
        return None
    numbers = [int(part) for part in parts]
    if any(number > 255 for number in numbers):
        return None
    *first, last = numbers
    result = last
    for position, number in enumerate(first):
        result += number << 8 * (3 - position)
    return result


def place_of(
    text: str | None, part: str | None, start: int | None, occurrence: int | None = 1
) -> int | None:
    """Return the position, counted from 1, of an occurrence of a substring; 0 if there are fewer.

    Raises
    ------
    ValueError
        If the number of the occurrence is below 1.
    """
    if text is None or part is None or start is None or occurrence is None:
        return None
    if occurrence <= 0:
        raise ValueError(f"INSTR counts occurrences from 1, not from {occurrence}")
    if start == 0:
        return 0
    if start < 0:
        found = place_of(text[::-1], part[::-1], -start, occurrence)
        return found and len(text) + 2 - found - len(part)
    if not part:
        return 1
    position = start - 1
    for _ in range(occurrence):
        position = text.find(part, position) + 1
        if not position:
            return 0
    return position


def part_of_url(url: str | None, part: str | None, *keys: str | None) -> str | None:
    """Return a part of a URL, as Java's ``java.net.URL`` has it."""
    if url is None or part is None or None in keys:
        return None
    try:
        split = urlsplit(url)
    except ValueError:
        return None
    if split.scheme.lower() not in _PROTOCOLS:
        return None
    if keys:
        key = keys[0]
        assert key is not None
        if part != "QUERY":
            return None
        found = re.search(f"(?:&|^){re.escape(key)}=([^&]*)", split.query)
        return found and found[1]
    read = _PARTS.get(part)
    return None if read is None else read(split, url)


def _host(split: SplitResult, url: str) -> str | None:
    authority = split.netloc.rpartition("@")[2]
    host = authority if authority.endswith("]") else authority.rpartition(":")[0] or authority
    return host if "//" in url else None


_PARTS: dict[str, Callable[[SplitResult, str], str | None]] = {
    "HOST": _host,
    "PATH": lambda split, url: split.path,
    "QUERY": lambda split, url: split.query or ("" if "?" in url else None),
    "REF": lambda split, url: split.fragment or ("" if "#" in url else None),
    "PROTOCOL": lambda split, url: split.scheme,
    "AUTHORITY": lambda split, url: split.netloc or None,
    "FILE": lambda split, url: split.path + (f"?{split.query}" if split.query else ""),
    "USERINFO": lambda split, url: split.netloc.rpartition("@")[0] or None,
}


def quoted(text: str | None) -> str | None:
    """Return a string as a JSON string, with all characters but ASCII escaped."""
    if text is None:
        return None
    return '"' + "".join(_ESCAPES.get(each) or _ascii(each) for each in text) + '"'


def _ascii(character: str) -> str:
    return json.dumps(character)[1:-1]


def unquoted(text: str | None) -> str | None:
    """Return the string that a JSON string stands for; other strings unchanged.

    Raises
    ------
    ValueError
        If the string is in quotes and is not a JSON string.
    """
    if text is None or len(text) < 2 or not (text[0] == text[-1] == '"'):
        return text
    try:
        value = json.loads(text, strict=False)
    except ValueError as reason:
        raise ValueError(f"JSON_UNQUOTE: {text} is not a JSON string: {reason}") from None
    assert isinstance(value, str)
    return value
