"""Statements of a script, which end with semicolons."""

from __future__ import annotations

import re

__all__ = ["is_blank", "split"]

# What a semicolon may be inside of, and words; what is not closed goes on to the end.
_TOKENS = re.compile(
    r"(?P<skipped>--[^\n]*|/\*.*?(?:\*/|\Z)|\s+)|'(?:[^']|'')*(?:'|\Z)|`(?:[^`]|``)*(?:`|\Z)|\w+|.",
    re.DOTALL,
)
_OPEN = re.compile(r"'(?:[^']|'')*\Z|`(?:[^`]|``)*\Z|/\*(?:(?!\*/).)*\Z", re.DOTALL)
_SETS = (["STATEMENT", "SET", "BEGIN"], ["PLAN", "FOR", "STATEMENT", "SET", "BEGIN"])


def split(text: str) -> tuple[list[str], str]:
    """Return the statements of a text without semicolons and comments before them, and the rest.

    A statement set that begins with ``EXECUTE STATEMENT SET BEGIN`` ends with ``END``.
    """
    statements = []
    begin = end = 0
    words: list[str] = []
    for token in _TOKENS.finditer(text):
        if token["skipped"] is not None:
            continue
        word = token[0]
        if word != ";" or _is_open(words):
            begin = begin if words else token.start()
            words.append(word.upper())
            continue
        if words:
            statements.append(text[begin : token.start()].strip())
        end, words = token.end(), []
    rest = text[end:]
    return statements, "" if not words and not _OPEN.search(rest) else rest.lstrip()


def _is_open(words: list[str]) -> bool:
    """Whether words are a statement set of which not all statements have come."""
    return words[:1] in (["EXECUTE"], ["EXPLAIN"], ["COMPILE"]) and (
        any(words[1 : 1 + len(each)] == each for each in _SETS) and words[-1] != "END"
    )


def is_blank(text: str) -> bool:
    """Return whether a text has nothing but space and comments."""
    return all(token["skipped"] is not None for token in _TOKENS.finditer(text))
