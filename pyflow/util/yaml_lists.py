"""Lists of plain values in YAML: ``[a, 'b', 3]``, or a line ``- a`` for each."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from typing import Any

_SINGLE = r"'(?:[^']|'')*'"
_DOUBLE = r'"(?:[^"\\]|\\.)*"'
_FLOW = re.compile(rf"""\s*({_SINGLE}|{_DOUBLE}|[^,\[\]{{}}'"\s][^,\[\]{{}}]*?)\s*(,|$)""")
_ITEM = re.compile(rf"-\s+({_SINGLE}|{_DOUBLE}|[^'\"\s].*?)\s*$")
_PLAIN: tuple[tuple[str, Callable[[str], Any]], ...] = (
    (r"~|null|Null|NULL", lambda text: None),
    (r"true|True|TRUE", lambda text: True),
    (r"false|False|FALSE", lambda text: False),
    (r"[-+]?[0-9][0-9_]*", lambda text: int(text.replace("_", "").lstrip("0") or "0")),
    (r"0x[0-9a-fA-F]+", lambda text: int(text, 16)),
    (r"0o[0-7]+", lambda text: int(text, 8)),
    (r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", float),
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", datetime.date.fromisoformat),
)


def list_of(text: str) -> list[Any] | None:
    """Return the values of a list; None of a text that is none.

    Raises
    ------
    ValueError
        If it begins as a list and is none, or has lists, maps or references inside.
    """
    text = text.strip()
    if text.startswith("["):
        return _flow(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines and all(line.startswith("- ") for line in lines):
        return [_value(_matched(_ITEM, line)[1]) for line in lines]
    return None


def _flow(text: str) -> list[Any]:
    if not text.endswith("]"):
        raise ValueError(f"{text!r} has no ] at its end")
    inner, position, values = text[1:-1].rstrip(), 0, []
    while position < len(inner):
        match = _matched(_FLOW, inner, position)
        values.append(_value(match[1]))
        position = match.end()
    return values


def _matched(pattern: re.Pattern[str], text: str, position: int = 0) -> re.Match[str]:
    match = pattern.match(text, position)
    if match is None or match[1][0] in "*&!%@`":
        raise ValueError(f"{text[position:]!r} is no plain value of a list")
    return match


def _value(text: str) -> Any:
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    if text.startswith('"'):
        return json.loads(text)
    for form, read in _PLAIN:
        if re.fullmatch(form, text):
            return read(text)
    return text
