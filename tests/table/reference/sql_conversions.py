"""Columns that get a type from two: those of set operations, of VALUES, and of INSERT.

`record_sql_conversions.py` keeps what PyFlink makes of all pairs of types: the type, and the
values.
"""

from __future__ import annotations

import json
import tempfile
from decimal import Decimal
from itertools import product
from pathlib import Path

from sql_operands import COLUMNS, ROWS

#: A value of each type that is not written as a text.
_LITERALS = {
    "x": "X'3132'",
    "a": "ARRAY[1, 2]",
    "z": "CAST(TIMESTAMP '2024-01-02 03:04:05.000' AS TIMESTAMP_LTZ(3))",
}
_MANY = 60

Pair = tuple[str, str]
PAIRS: list[Pair] = list(product(COLUMNS, repeat=2))

_WITH_PARTS = ("ARRAY[{}]", "MAP['k', {}]", "ROW({}, 1)")
_PARTS = ("i", "l", "f", "d", "n", "m", "s", "v", "y", "q", "ts", "z")
PAIRS_WITH_PARTS: list[Pair] = [
    (form.format(one), form.format(other))
    for form in _WITH_PARTS
    for one, other in product(_PARTS, repeat=2)
]

#: Expressions, and types of columns that they are written into.
SHORTENED: list[Pair] = [
    ("v", "VARCHAR(4)"),
    ("v", "CHAR(4)"),
    ("v", "CHAR(30)"),
    ("CAST('abc' AS CHAR(3))", "VARCHAR(2)"),
    ("CAST('abc' AS CHAR(3))", "CHAR(5)"),
    ("CAST('abc' AS CHAR(3))", "STRING"),
    ("CAST('abc' AS VARCHAR(3))", "VARCHAR(2)"),
    ("x", "BINARY(1)"),
    ("x", "BINARY(4)"),
    ("x", "VARBINARY(1)"),
    ("CAST(X'616263' AS BINARY(3))", "VARBINARY(2)"),
    ("m", "DECIMAL(4, 1)"),
    ("n", "DECIMAL(2, 1)"),
    ("CAST('0.25' AS DECIMAL(3, 2))", "DECIMAL(3, 1)"),
    ("d", "DECIMAL(2, 1)"),
    ("l", "DECIMAL(5, 0)"),
    ("ts", "TIMESTAMP(0)"),
    ("TIMESTAMP '2024-01-02 03:04:05.987654'", "TIMESTAMP(3)"),
    ("TIMESTAMP '2024-01-02 03:04:05.987654'", "TIMESTAMP(0)"),
    ("TIMESTAMP '2024-01-02 03:04:05.987654'", "TIMESTAMP_LTZ(2)"),
    ("TIMESTAMP '2024-01-02 03:04:05.987654'", "DATE"),
    ("TIMESTAMP '2024-01-02 03:04:05.987654'", "TIME(0)"),
    ("CAST(TIMESTAMP '2024-01-02 03:04:05.987654' AS TIMESTAMP_LTZ(6))", "TIMESTAMP(1)"),
    ("CAST(TIMESTAMP '2024-01-02 03:04:05.987654' AS TIMESTAMP_LTZ(6))", "TIMESTAMP_LTZ(1)"),
    ("ARRAY['abcd']", "ARRAY<VARCHAR(2)>"),
    ("ARRAY[1]", "ARRAY<BIGINT>"),
    ("ARRAY[CAST(1 AS BIGINT)]", "ARRAY<INT>"),
    ("ARRAY[TIMESTAMP '2024-01-02 03:04:05.987654']", "ARRAY<TIMESTAMP(3)>"),
    ("MAP['a', 1]", "MAP<STRING, BIGINT>"),
    ("MAP['a', 1]", "MAP<STRING, DECIMAL(5, 2)>"),
    ("ROW(1, 'abcd')", "ROW<a BIGINT, b VARCHAR(2)>"),
    ("ROW(1, 'abcd')", "ROW<a INT, b STRING>"),
    ("ROW(1, 'abcd')", "ROW<a INT>"),
    ("ROW(1, 2)", "ROW<a DECIMAL(3, 1), b FLOAT>"),
    ("CAST(NULL AS INT)", "STRING"),
]


def _columns(pairs: list[Pair], side: int) -> str:
    return ", ".join(f"{pair[side]} AS e{place}" for place, pair in enumerate(pairs))


def _set_operation(operator: str):
    def query(pairs: list[Pair]) -> str:
        return (
            f"SELECT place, {_columns(pairs, 0)} FROM operands {operator} "
            f"SELECT place + {ROWS}, {_columns(pairs, 1)} FROM operands"
        )

    return query


def _values(pairs: list[Pair]) -> str:
    def literal(name: str) -> str:
        data_type, values = COLUMNS[name]
        return _LITERALS.get(name) or f"CAST('{values[0]}' AS {data_type})"

    rows = (", ".join(literal(pair[side]) for pair in pairs) for side in (0, 1))
    names = ", ".join(f"e{place}" for place, _ in enumerate(pairs))
    values = ", ".join(f"({place}, {row})" for place, row in enumerate(rows))
    return f"SELECT * FROM (VALUES {values}) AS v (place, {names})"


def _case(pairs: list[Pair]) -> str:
    columns = ", ".join(
        f"CASE WHEN b THEN {one} ELSE {other} END AS e{place}"
        for place, (one, other) in enumerate(pairs)
    )
    return f"SELECT place, {columns} FROM operands"


#: Queries with a column for each pair, beside the place of the row.
QUERIES = {
    "UNION ALL": _set_operation("UNION ALL"),
    "EXCEPT": _set_operation("EXCEPT"),
    "VALUES": _values,
}

#: The same for pairs of arrays, maps and rows.
QUERIES_OF_PARTS = {"UNION ALL OF PARTS": _set_operation("UNION ALL"), "CASE OF PARTS": _case}


def _schema(t_env, query: str, schema_of) -> str:
    return " ".join(schema_of(t_env.sql_query(f"SELECT e0 FROM ({query})")).split())


def _texts(t_env, query: str, count: int) -> list[list[str | None]]:
    columns = ", ".join(f"CAST(e{place} AS STRING)" for place in range(count))
    with t_env.sql_query(f"SELECT place, {columns} FROM ({query})").execute().collect() as found:
        rows = sorted((list(row) for row in found), key=lambda row: row[0])
    return [[row[place + 1] for row in rows] for place in range(count)]


def _insertion(t_env, pairs: list[Pair], folder: str) -> str:
    """Make a table whose columns have the types of the second of each pair, and return INSERT."""
    types = [COLUMNS.get(wanted, (wanted,))[0] for _, wanted in pairs]
    columns = ", ".join(f"e{place} {data_type}" for place, data_type in enumerate(types))
    t_env.execute_sql("DROP TEMPORARY TABLE IF EXISTS written")
    t_env.execute_sql(
        f"CREATE TEMPORARY TABLE written (place INT, {columns}) WITH ('connector' = 'filesystem', "
        f"'path' = '{Path(folder).as_uri()}', 'format' = 'json')"
    )
    return f"INSERT INTO written SELECT place, {_columns(pairs, 0)} FROM operands"


def _written(t_env, pairs: list[Pair]) -> list[list[object]]:
    with tempfile.TemporaryDirectory() as folder:
        t_env.execute_sql(_insertion(t_env, pairs, folder)).wait()
        files = [each for each in Path(folder).rglob("*") if each.is_file()]
        lines = [
            line
            for each in files
            if each.name[0] not in "._"
            for line in each.read_text(encoding="utf-8").splitlines()
        ]
    rows = [json.loads(line, parse_float=_number, parse_int=_number) for line in lines]
    rows.sort(key=lambda row: int(row["place"]))
    return [[row.get(f"e{place}") for row in rows] for place in range(len(pairs))]


def _number(text: str) -> str:
    """Return a number in one form of many."""
    return f"{Decimal(text).normalize():f}"


def _is_planned(t_env, pair: Pair) -> bool:
    try:
        t_env.explain_sql(_insertion(t_env, [pair], tempfile.gettempdir()))
    except Exception:
        return False
    return True


def _evaluated(pairs: list[Pair], values) -> dict[Pair, list]:
    """Return the values of each pair, without those that fail: many are evaluated together."""
    found: dict[Pair, list] = {}
    parts = [pairs[start : start + _MANY] for start in range(0, len(pairs), _MANY)]
    while parts:
        part = parts.pop()
        try:
            found.update(zip(part, values(part)))
        except Exception:
            if len(part) > 1:
                half = len(part) // 2
                parts += [part[:half], part[half:]]
    return found


def of_queries(t_env, name: str, schema_of, pairs: list[Pair] = PAIRS) -> dict[str, list]:
    """Return type and values of the column of each pair, without those that fail."""
    query = {**QUERIES, **QUERIES_OF_PARTS}[name]
    types: dict[Pair, str] = {}
    for pair in pairs:
        try:
            types[pair] = _schema(t_env, query([pair]), schema_of)
        except Exception:
            continue
    found = _evaluated(list(types), lambda part: _texts(t_env, query(part), len(part)))
    return {" ".join(pair): [types[pair], found[pair]] for pair in types if pair in found}


def of_insertions(t_env, pairs: list[Pair]) -> dict[str, list]:
    """Return what is written for each pair, without those that fail; numbers as texts."""
    planned = [pair for pair in pairs if _is_planned(t_env, pair)]
    found = _evaluated(planned, lambda part: _written(t_env, part))
    return {" ".join(pair): found[pair] for pair in planned if pair in found}
