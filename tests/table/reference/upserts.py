"""Tables with a key that are written from rows that change: `record_upserts.py` keeps PyFlink's.

What is compared is what the records of a topic of `upsert-kafka` leave of each key.
"""

from __future__ import annotations

import json

from change_queries import FIRST, LAST, MOVES, SETUP, TOP, TOTALS

# Flink looks for rows that meet when a watermark comes. This one does not move between the first
# row, which meets no other, and the end.
ROWS = "0,z,99,first,9.5,2024-01-01 00:00:00,99\n" + MOVES
SOURCE = SETUP.replace(
    "WATERMARK FOR ts AS ts", "WATERMARK FOR ts AS CAST('2000-01-01 00:00:00' AS TIMESTAMP(3))"
)
assert SOURCE != SETUP

#: By name: columns, the key, and a query whose columns these are.
SINKS = {
    "totals": (
        "k STRING, total INT, c BIGINT",
        "k",
        "SELECT COALESCE(k, '-'), SUM(v), COUNT(*) FROM moves GROUP BY COALESCE(k, '-')",
    ),
    "totals_that_go": (
        "g INT, total INT",
        "g",
        f"SELECT g, SUM(v) FROM {LAST} GROUP BY g HAVING MOD(SUM(v), 2) = 1",
    ),
    "some_of_last": ("g INT, v INT, s STRING", "g", f"SELECT g, v, s FROM {LAST} WHERE v > 2"),
    "rows": ("g INT, id INT, s STRING", "g", "SELECT g, id, s FROM moves"),
    "values_of_rows": (
        "g INT, s STRING",
        "g",
        "SELECT g, s FROM moves",
    ),
    "values_of_all_last": ("s STRING, v INT", "s", f"SELECT COALESCE(s, '-'), v FROM {LAST}"),
    "keys_of_totals": (
        "total INT, k STRING",
        "total",
        f"SELECT COALESCE(total, -1), k FROM {TOTALS} WHERE k IS NOT NULL",
    ),
    "values_of_last": ("v INT, g INT, s STRING", "v", f"SELECT COALESCE(v, -1), g, s FROM {LAST}"),
    "texts_of_last": (
        "s STRING, v INT, g INT",
        "s, v",
        f"SELECT COALESCE(s, '-'), COALESCE(v, -1), g FROM {LAST}",
    ),
    "first": (
        "g INT, k STRING, v INT",
        "g, k",
        f"SELECT g, COALESCE(k, '-'), v FROM {FIRST}",
    ),
    "keys_of_first": ("k STRING, g INT", "k", f"SELECT COALESCE(k, '-'), g FROM {FIRST}"),
    "top": (
        "k STRING, n BIGINT, v INT, id INT",
        "k, n",
        f"SELECT COALESCE(k, '-'), n, v, id FROM {TOP}",
    ),
    "keys_of_top": ("k STRING, v INT, id INT", "k", f"SELECT COALESCE(k, '-'), v, id FROM {TOP}"),
    "two_levels": (
        "most INT, c BIGINT",
        "most",
        f"SELECT MAX(total), COUNT(*) FROM {TOTALS} GROUP BY c",
    ),
    "joined": (
        "k STRING, g INT, total INT, v INT",
        "k, g",
        f"""SELECT t.k, COALESCE(l.g, -1), t.total, l.v FROM {TOTALS} t
            LEFT JOIN {LAST} l ON t.k = l.k AND l.v > 2 WHERE t.k IS NOT NULL""",
    ),
    "distinct": ("v INT", "v", f"SELECT DISTINCT COALESCE(v, -1) FROM {LAST}"),
}


#: What becomes of rows that meet under one key.
STRATEGIES = ("DEDUPLICATE", "NOTHING", "ERROR")


def insertion(t_env, name: str, strategy: str, address: str, topic: str) -> str:
    """Make the table of a topic, and return the statement that writes it."""
    columns, key, query = SINKS[name]
    table = f"`{topic}`"
    t_env.execute_sql(
        f"CREATE TABLE {table} ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH ("
        f"'connector' = 'upsert-kafka', 'topic' = '{topic}', "
        f"'properties.bootstrap.servers' = '{address}', "
        "'key.format' = 'json', 'value.format' = 'json')"
    )
    return f"INSERT INTO {table} {query} ON CONFLICT DO {strategy}"


def left(records) -> dict[str, object]:
    """Return the last value of each key that has one."""
    last = {}
    for record in records:
        last[_text(json.loads(record.key))] = record.value and json.loads(record.value)
    return {key: value for key, value in sorted(last.items()) if value is not None}


def _text(key: dict) -> str:
    return json.dumps(dict(sorted(key.items())))
