"""Translation of SQL's regular expressions (``SIMILAR TO``) to Java's."""

from __future__ import annotations

from pyflow.util.exceptions import TableException

_CLASSES = {
    "ALPHA": r"\p{Alpha}",
    "UPPER": r"\p{Upper}",
    "LOWER": r"\p{Lower}",
    "DIGIT": r"\d",
    "SPACE": " ",
    "WHITESPACE": r"\s",
    "ALNUM": r"\p{Alnum}",
}
_JAVA = ".$\\&"
_SPECIAL = "_%-^[]()|+*?{}"


def similar_pattern(pattern: str | None, escape: str | None = None) -> str | None:
    """Return the Java regular expression for one of SQL; it matches whole strings.

    Parameters
    ----------
    pattern
        The expression of SQL.
    escape
        The escape character.

    Raises
    ------
    TableException
        If the pattern is invalid.
    """
    if pattern is None:
        return None
    translated: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == escape:
            translated.append(_escaped(pattern, position, escape))
            position += 2
            continue
        if character == "[":
            text, position = _bracket(pattern, position, escape)
            translated.append(text)
            continue
        if character == "%":
            translated.append("(?:.|\\n)*")
        elif character == "_":
            translated.append("(?:.|\\n)")
        elif character in _JAVA or character == "^":
            translated.append("\\" + character)
        else:
            translated.append(character)
        position += 1
    return f"\\A(?:{''.join(translated)})\\z"


def _escaped(pattern: str, position: int, escape: str) -> str:
    """Return the expression of the character behind the escape character at a position."""
    found = pattern[position + 1 : position + 2]
    if not found or found not in _SPECIAL + escape:
        raise TableException(f"SIMILAR TO: {escape!r} escapes nothing in the pattern {pattern!r}")
    return found if found.isalnum() else "\\" + found


def _bracket(pattern: str, start: int, escape: str | None) -> tuple[str, int]:
    """Return the class of characters that begins at a position, and the position behind it."""
    inside: list[str] = []
    position = start + 1
    while position < len(pattern) and pattern[position] != "]":
        character = pattern[position]
        if character == escape:
            inside.append(_escaped(pattern, position, escape))
            position += 2
        elif pattern.startswith("[:", position):
            text, position = _named_class(pattern, position)
            inside.append(text)
        else:
            inside.append("\\" + character if character in "\\&[" else character)
            position += 1
    if position >= len(pattern):
        raise TableException(f"SIMILAR TO: '[' has no ']' in the pattern {pattern!r}")
    return f"[{''.join(inside)}]", position + 1


def _named_class(pattern: str, start: int) -> tuple[str, int]:
    """Return the class that a name such as ``[:ALPHA:]`` stands for, and the position behind it."""
    end = pattern.find(":]", start)
    name = pattern[start + 2 : end].upper()
    if end < 0 or name not in _CLASSES:
        raise TableException(f"SIMILAR TO: there is no class [:{name}:] in {pattern!r}")
    return _CLASSES[name], end + 2
