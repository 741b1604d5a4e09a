"""What a statement of SQL may go on with: tables, columns, functions and words of the grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from pyflow.util.exceptions import JavaException

if TYPE_CHECKING:
    from pyflow.table import TableEnvironment

__all__ = ["candidates"]

_GRAMMAR = """
    ADD ALTER AND AS ASC BEGIN BETWEEN BY CASE CAST CATALOG CATALOGS COLUMNS CREATE CROSS CUMULATE
    CURRENT DATABASE DATABASES DELETE DESC DESCRIBE DESCRIPTOR DISTINCT DROP ELSE END EXCEPT EXECUTE
    EXISTS EXPLAIN FALSE FILTER FROM FULL FUNCTION FUNCTIONS GROUP HAVING HOP IF IN INNER INSERT
    INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT LIKE LIMIT NOT NULL OFFSET ON OR ORDER OUTER OVER
    OVERWRITE PARTITION RESET RIGHT SELECT SESSION SET SHOW STATEMENT TABLE TABLES TEMPORARY THEN
    TRUE TUMBLE UNION UNNEST USE USING VALUES VIEW VIEWS WATERMARK WHEN WHERE WITH
"""
_WORDS = _GRAMMAR.split()
_NAME = r"(?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*"
# Behind these words a table is named, perhaps with another name for it.
_TABLES = re.compile(
    rf"\b(?:FROM|JOIN|INTO|TABLE|DESCRIBE|DESC|OVERWRITE|,)\s+({_NAME})"
    rf"(?:\s+(?:AS\s+)?(?!(?:{'|'.join(_WORDS)})\b)(\w+))?",
    re.IGNORECASE,
)
_AT_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|TABLE|DESCRIBE|OVERWRITE)\s+[\w.`]*$", re.IGNORECASE)
_LAST = re.compile(r"[\w.`]*$")


def candidates(t_env: TableEnvironment, before: str, after: str = "") -> list[str]:
    """Return what the last word before the cursor may become.

    Parameters
    ----------
    t_env : TableEnvironment
    before, after : str
        The statement before and behind the cursor.
    """
    last = _LAST.search(before)
    assert last is not None
    word = last[0]
    if _AT_TABLE.search(before):
        found = [*t_env.list_tables(), *t_env.list_views()]
    elif "." in word:
        name = word.rpartition(".")[0]
        found = [
            f"{name}.{column}"
            for path, alias in _tables(before + after)
            if name in (path, alias)
            for column in _columns(t_env, path)
        ]
    else:
        columns = [c for path, _ in _tables(before + after) for c in _columns(t_env, path)]
        # Names in two cases are those of the Table API alone.
        functions = [
            name.upper()
            for name in t_env.list_functions()
            if name.isidentifier() and (name.islower() or name.isupper())
        ]
        found = [*columns, *t_env.list_tables(), *_WORDS, *functions]
    unique = dict.fromkeys(found)
    exact = [each for each in unique if each.startswith(word)]
    return exact or [each for each in unique if each.lower().startswith(word.lower())]


def _tables(statement: str) -> Iterator[tuple[str, str | None]]:
    """The tables that a statement names, with their other names."""
    for match in _TABLES.finditer(statement):
        yield match[1], match[2]


def _columns(t_env: TableEnvironment, path: str) -> list[str]:
    with suppress(JavaException):
        return list(t_env.from_path(path).get_schema().get_field_names())
    return []
