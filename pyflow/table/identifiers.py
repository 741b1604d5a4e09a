"""Names as SQL writes them."""

from collections.abc import Sequence


def quoted(name: str) -> str:
    """Return a name in backquotes."""
    escaped = name.replace("`", "``")
    return f"`{escaped}`"


def quoted_list(names: Sequence[str]) -> str:
    """Return names in backquotes, between parentheses."""
    return f"({', '.join(map(quoted, names))})"


def literal(text: str) -> str:
    """Return a text between quotes."""
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def primary_key_text(name: str, columns: Sequence[str]) -> str:
    """Return a primary key as SQL declares it."""
    return f"CONSTRAINT {quoted(name)} PRIMARY KEY {quoted_list(columns)} NOT ENFORCED"
