"""Names as SQL writes them."""

from collections.abc import Sequence

from pyflow.util.exceptions import TableException


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


def parsed_path(path: str) -> list[str]:
    """Return the parts of a name: up to three, between dots, in backquotes where needed.

    Raises
    ------
    TableException
        If the text is none.
    """
    parts: list[str] = []
    rest = path
    while True:
        if rest.startswith("`"):
            part, rest = _backquoted(path, rest)
        else:
            part, dot, after = rest.partition(".")
            rest = dot + after
            part = part.strip()
        if not part:
            break
        parts.append(part)
        if not rest:
            if len(parts) > 3:
                break
            return parts
        if not rest.startswith("."):
            break
        rest = rest[1:]
    raise TableException(
        f"{path!r} is no name of a table or function: expected up to three parts between dots, "
        "in backquotes where they hold other than letters, digits and underscores"
    )


def _backquoted(path: str, rest: str) -> tuple[str, str]:
    name = ""
    place = 1
    while place < len(rest):
        if rest[place] != "`":
            name += rest[place]
            place += 1
        elif rest[place + 1 : place + 2] == "`":
            name += "`"
            place += 2
        else:
            return name, rest[place + 1 :]
    raise TableException(f"{path!r} is no name: a backquote is not closed")
