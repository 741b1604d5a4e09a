"""Operators and functions of SQL over operands of all pairs of types, and some of three types.

`record_sql_operands.py` keeps what PyFlink makes of them: the type, and the values as texts.
"""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

#: Name, type and values of each column.
COLUMNS = {
    "b": ("BOOLEAN", [True, False, None]),
    "t": ("TINYINT", [7, -3, None]),
    "h": ("SMALLINT", [300, 2, None]),
    "i": ("INT", [12, 70000, None]),
    "l": ("BIGINT", [12, 5000000000, None]),
    "f": ("FLOAT", [1.5, 0.1, None]),
    "d": ("DOUBLE", [12.0, 0.1, None]),
    "n": ("DECIMAL(10, 2)", ["12.00", "0.10", None]),
    "m": ("DECIMAL(30, 10)", ["12.0000000001", "0.1", None]),
    "s": ("STRING", ["12", "3", None]),
    "p": ("STRING", ["1.50", "1e1", None]),
    "k": ("STRING", ["true", "FALSE", None]),
    "u": ("STRING", ["2024-01-02", "2023-12-31", None]),
    "w": ("STRING", ["03:04:05", "23:00:00", None]),
    "v": ("STRING", ["2024-01-02 03:04:05", "2024-01-02 00:00:00", None]),
    "y": ("DATE", ["2024-01-02", "2024-02-01", None]),
    "q": ("TIME(0)", ["03:04:05", "12:00:00", None]),
    "ts": ("TIMESTAMP(3)", ["2024-01-02 03:04:05.000", "2024-01-02 00:00:00.000", None]),
    "z": ("TIMESTAMP_LTZ(3)", ["2024-01-02 03:04:05.000Z", "2024-01-02 00:00:00.000Z", None]),
    "x": ("BYTES", ["MTI=", "YWI=", None]),
    "a": ("ARRAY<INT>", [[1, 2], [3], None]),
}
ROWS = 3

#: Expressions of two operands.
FORMS = {
    **{sign: f"{{}} {sign} {{}}" for sign in ("=", "<", "+", "-", "*", "/", "%", "||", "LIKE")},
    "IS DISTINCT FROM": "{} IS DISTINCT FROM {}",
    "IN": "{} IN ({}, NULL)",
    **{name: f"{name}({{}}, {{}})" for name in ("COALESCE", "NULLIF", "GREATEST", "MOD", "POWER")},
    "CASE": "CASE WHEN b THEN {} ELSE {} END",
    "IF": "IF(b, {}, {})",
    "CASE WHEN EQUAL": "CASE {} WHEN {} THEN 1 END",
    "ARRAY": "ARRAY[{}, {}]",
    "TIMESTAMPDIFF": "TIMESTAMPDIFF(MINUTE, {}, {})",
}

#: Expressions of three operands, and the columns that they are made of.
FORMS_OF_THREE = {
    "CASE OF THREE": "CASE WHEN b THEN {} WHEN i = 12 THEN {} ELSE {} END",
    "COALESCE OF THREE": "COALESCE({}, {}, {})",
    "ARRAY OF THREE": "ARRAY[{}, {}, {}]",
    "BETWEEN": "{} BETWEEN {} AND {}",
}
COLUMNS_OF_THREE = ("i", "f", "d", "n", "s", "v", "y", "q", "ts", "z")


def cases() -> dict[str, list[str]]:
    """Return the expressions of each form, for all pairs or triples of columns in their order."""
    operands = [(FORMS, COLUMNS, 2), (FORMS_OF_THREE, COLUMNS_OF_THREE, 3)]
    return {
        name: [form.format(*each) for each in product(columns, repeat=count)]
        for forms, columns, count in operands
        for name, form in forms.items()
    }


def make_table(t_env, directory: Path) -> None:
    """Write the file of the table, and make the table."""
    path = directory / "operands.json"
    rows = [
        {"place": place, **{name: values[place] for name, (_, values) in COLUMNS.items()}}
        for place in range(ROWS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    columns = ", ".join(f"{name} {data_type}" for name, (data_type, _) in COLUMNS.items())
    t_env.execute_sql(
        f"CREATE TABLE file_of_operands (place INT, {columns}) WITH ('connector' = 'filesystem', "
        f"'path' = '{path.as_uri()}', 'format' = 'json', "
        "'json.timestamp-format.standard' = 'SQL')"
    )
    t_env.create_temporary_view("operands", t_env.from_path("file_of_operands"))


def values(t_env, expressions: list[str]) -> list[list[str | None]]:
    """Return the values of each expression, as texts."""
    columns = ", ".join(f"CAST({each} AS STRING) AS e{n}" for n, each in enumerate(expressions))
    query = f"SELECT place, {columns} FROM operands"
    with t_env.sql_query(query).execute().collect() as found:
        rows = sorted((list(row) for row in found), key=lambda row: row[0])
    if len(rows) != ROWS:
        raise ValueError(f"{len(rows)} rows")
    return [[row[place + 1] for row in rows] for place in range(len(expressions))]


def evaluate(t_env, expressions: list[str]) -> dict[str, list[str | None] | None]:
    """Return the values of expressions, None for one that fails: many are evaluated together."""
    found: dict[str, list[str | None] | None] = {}
    parts = [expressions[start : start + 60] for start in range(0, len(expressions), 60)]
    while parts:
        part = parts.pop()
        try:
            found.update(zip(part, values(t_env, part)))
        except Exception:
            if len(part) == 1:
                found[part[0]] = None
            else:
                half = len(part) // 2
                parts += [part[:half], part[half:]]
    return found


def type_of(t_env, expression: str, schema_of) -> str | None:
    """Return the schema of an expression, None where it is refused."""
    try:
        schema = schema_of(t_env.sql_query(f"SELECT {expression} AS e FROM operands"))
        return " ".join(schema.split())
    except Exception:
        return None


def plain(schema: str) -> str:
    """Return a schema without lengths of texts and bytes, and without who has nulls."""
    text = re.sub(r" NOT NULL|\s", "", schema)
    return re.sub(r"(VAR)?BINARY\(\d+\)", "BYTES", re.sub(r"(VAR)?CHAR\(\d+\)", "STRING", text))


def outcomes(t_env, expressions: list[str], schema_of) -> dict[str, tuple | None]:
    """Return schema and values of each expression, None for one that is refused."""
    types = {each: type_of(t_env, each, schema_of) for each in expressions}
    found = evaluate(t_env, [each for each, schema in types.items() if schema is not None])
    return {
        each: None if schema is None else (schema, found[each]) for each, schema in types.items()
    }
