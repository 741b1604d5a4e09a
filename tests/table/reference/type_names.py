"""Names of types as statements and the strings of the Table API have them.

PyFlink's answers are in ``type_names.json``; ``record_type_names.py`` writes them.
"""

from __future__ import annotations

NAMES = (
    """
VARCHAR; VARBINARY; CHAR; BINARY; STRING; BYTES; VARCHAR(3); CHAR(3); BINARY(3); VARBINARY(3)
VARCHAR(2147483647); VARBINARY(2147483647); VARCHAR(2147483648)
CHARACTER; CHARACTER(3); CHARACTER VARYING; CHARACTER VARYING(3); CHAR VARYING; CHAR VARYING(3)
BINARY VARYING; BINARY VARYING(3); STRING(3); BYTES(3); varchar; VarBinary
BOOLEAN; BOOL; TINYINT; SMALLINT; INT; INTEGER; BIGINT; LONG; FLOAT; FLOAT(3); REAL; DOUBLE
DOUBLE PRECISION
DEC; DEC(5); DEC(5, 2); NUMERIC; NUMERIC(5, 2); DECIMAL; DECIMAL(5); DECIMAL(38, 38)
DECIMAL(39); DECIMAL(39, 2); DECIMAL(0); DECIMAL(5, 6); DECIMAL(5, -1)
DATE; TIME; TIME(0); TIME(3); TIME(6); TIME(9); TIME(10); TIME WITHOUT TIME ZONE
TIME(3) WITHOUT TIME ZONE; TIME WITH TIME ZONE
TIMESTAMP; TIMESTAMP(0); TIMESTAMP(3); TIMESTAMP(9); TIMESTAMP(10); TIMESTAMP WITHOUT TIME ZONE
TIMESTAMP(3) WITHOUT TIME ZONE; TIMESTAMP WITH LOCAL TIME ZONE; TIMESTAMP(3) WITH LOCAL TIME ZONE
TIMESTAMP(12) WITH LOCAL TIME ZONE
TIMESTAMP_LTZ; TIMESTAMP_LTZ(3); TIMESTAMP_LTZ(10)
INT ARRAY; INT MULTISET; VARCHAR ARRAY; VARBINARY MULTISET; ARRAY<VARCHAR>; ARRAY<VARCHAR NOT NULL>
ARRAY<VARBINARY>; ARRAY<TIME(9)>; MAP<VARCHAR, VARBINARY>; MULTISET<CHARACTER VARYING>
ROW<a VARCHAR, b VARBINARY NOT NULL>; ROW(a VARCHAR, b TIMESTAMP(10)); ROW<>; ROW<INT, VARCHAR>
ROW<a ARRAY<MAP<VARCHAR, ROW<b VARCHAR, c CHAR>>>>; ROW<a INT NOT NULL>
NULL; RAW; ANY; UUID; BLOB; CLOB; TEXT; BITMAP
VARCHAR NOT NULL; VARCHAR NULL; INT NOT NULL; INT NULL
""".strip()
    .replace("\n", "; ")
    .split("; ")
)

#: Types of intervals, which have no columns of tables.
INTERVALS = (
    """
INTERVAL YEAR; INTERVAL YEAR(4); INTERVAL YEAR(5); INTERVAL MONTH; INTERVAL YEAR TO MONTH
INTERVAL YEAR(3) TO MONTH; INTERVAL DAY; INTERVAL DAY(6); INTERVAL DAY(7); INTERVAL DAY TO HOUR
INTERVAL DAY TO MINUTE; INTERVAL DAY TO SECOND; INTERVAL DAY(3) TO SECOND(3); INTERVAL HOUR
INTERVAL HOUR TO MINUTE; INTERVAL HOUR TO SECOND; INTERVAL HOUR TO SECOND(3); INTERVAL MINUTE
INTERVAL MINUTE TO SECOND; INTERVAL SECOND; INTERVAL SECOND(3); INTERVAL SECOND(10)
""".strip()
    .replace("\n", "; ")
    .split("; ")
)

#: Values whose types have no length.
VALUES = [
    "CAST(12345 AS VARCHAR)",
    "CAST(12345 AS CHAR)",
    "CAST(12345 AS CHARACTER)",
    "CAST(12345 AS CHARACTER VARYING)",
    "TRY_CAST(12345 AS VARCHAR)",
    "CAST(x'0102' AS VARBINARY)",
    "CAST(x'0102' AS BINARY)",
    "CAST(x'0102' AS BINARY VARYING)",
    "CAST(ARRAY[123] AS ARRAY<VARCHAR>)",
    "CAST(MAP['ab', 12] AS MAP<VARCHAR, VARCHAR>)",
    "CAST(ROW(123) AS ROW<a VARCHAR>)",
    "JSON_VALUE('{\"a\": 12}', '$.a' RETURNING VARCHAR)",
    "CAST(CAST(5 AS VARCHAR) || 'abc' AS VARCHAR)",
]

#: Values of which the types are looked at.
TYPED = [
    "CAST(1 AS VARCHAR)",
    "CAST(x'01' AS VARBINARY)",
    "CAST(1 AS CHAR)",
    "CAST(x'01' AS BINARY)",
    "CAST(NULL AS ROW<a VARCHAR, b ARRAY<VARBINARY>>)",
    "TRY_CAST('1' AS DECIMAL(39, 2))",
    "TRY_CAST('2024-01-01 00:00:00' AS TIMESTAMP(12))",
    "TRY_CAST('01:02:03' AS TIME(9))",
]


def declared(t_env, name: str) -> str:
    """The type of a column that is declared by a name, as DESCRIBE shows it."""
    try:
        t_env.execute_sql("DROP TEMPORARY TABLE IF EXISTS named")
        t_env.execute_sql(f"CREATE TEMPORARY TABLE named (c {name}) WITH ('connector' = 'datagen')")
        with t_env.execute_sql("DESCRIBE named").collect() as rows:
            _, shown, nullable, *_ = next(iter(rows))
    except Exception:
        return "error"
    return shown if nullable else f"{shown} NOT NULL"


def types(t_env) -> list[str]:
    """The types of values, as DESCRIBE of a view shows them."""
    columns = ", ".join(f"{value} AS c{place}" for place, value in enumerate(TYPED))
    t_env.execute_sql(f"CREATE TEMPORARY VIEW typed AS SELECT {columns}")
    with t_env.execute_sql("DESCRIBE typed").collect() as rows:
        return [row[1] if row[2] else f"{row[1]} NOT NULL" for row in rows]


def values(t_env) -> list[str]:
    """The values, as texts."""
    with t_env.execute_sql(f"SELECT {', '.join(VALUES)}").collect() as rows:
        return list(map(str, next(iter(rows))))
