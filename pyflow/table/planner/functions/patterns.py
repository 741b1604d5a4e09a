"""Regular expressions of SQL (``SIMILAR TO``) as ones of Java."""

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


def similar_pattern(pattern: str | None) -> str | None:
    """Return the expression of Java that matches where one of SQL does, for a search.

    Raises
    ------
    TableException
        If the pattern is none.
    """
    if pattern is None:
        return None
    translated: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "[":
            text, position = _bracket(pattern, position)
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


def _bracket(pattern: str, start: int) -> tuple[str, int]:
    """Return the class of characters that begins at a position, and the position behind it."""
    end = pattern.find("]", start)
    if pattern.startswith("[[:", start) or pattern.startswith("[^[:", start):
        end = pattern.find(":]]", start) + 2 if ":]]" in pattern[start:] else -1
    if end < 0:
        raise TableException(f"SIMILAR TO: '[' has no ']' in the pattern {pattern!r}")
    inside = pattern[start + 1 : end]
    negated = inside.startswith("^")
    inside = inside.removeprefix("^")
    if inside.startswith("[:"):
        name = inside[2:-2].upper()
        if name not in _CLASSES:
            raise TableException(f"SIMILAR TO: there is no class [:{name}:] in {pattern!r}")
        inside = _CLASSES[name]
    else:
        inside = inside.replace("\\", "\\\\").replace("&", "\\&").replace("[", "\\[")
    return f"[{'^' if negated else ''}{inside}]", end + 1
