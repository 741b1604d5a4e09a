"""Queries over rows that change, whose changes are compared: `record_changes.py` keeps PyFlink's.

The rows are those of one file, in its order. A last row per key (`LAST`) is replaced by each
that follows, and a condition on it makes such a change a deletion; so do the first places (`TOP`).
"""

from __future__ import annotations

import random
import re


def _moves() -> str:
    """Forty rows with few different values, and nulls, in an order of times."""
    chance = random.Random(7)
    lines = []
    for number in range(1, 41):
        key = chance.choice("abcd") if number % 9 else ""
        value, text, part = (
            chance.choice(each)
            for each in (
                ["1", "2", "3", "3", "5", "8", ""],
                ["x", "y", "zz", ""],
                ["0.5", "1.25", "-2.0", "0.1", ""],
            )
        )
        time = f"2024-01-01 00:{number // 4:02}:{number % 4 * 10:02}"
        lines.append(f"{number},{key},{value},{text},{part},{time},{number % 7}\n")
    return "".join(lines)


MOVES = _moves()

SETUP = """
    CREATE TABLE moves (
        id INT, k STRING, v INT, s STRING, x DOUBLE, ts TIMESTAMP(3), g INT, WATERMARK FOR ts AS ts
    ) WITH (
        'connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv', 'csv.null-literal' = '')"""

_NUMBERED = "SELECT *, ROW_NUMBER() OVER ({}) AS {} FROM {}"


def _places(order: str, source: str, columns: str, condition: str, place: str = "r") -> str:
    numbered = _NUMBERED.format(order, place, source)
    return f"SELECT {columns} FROM ({numbered}) WHERE {place} {condition}"


LAST = f"({_places('PARTITION BY g ORDER BY ts DESC', 'moves', '*', '= 1', 'n')})"
FIRST = f"({_places('PARTITION BY g, k ORDER BY ts', 'moves', '*', '= 1', 'n')})"
TOP = f"({_places('PARTITION BY k ORDER BY v DESC, id', 'moves', '*', '<= 2', 'n')})"
TOTALS = """(
    SELECT k, SUM(v) AS total, COUNT(*) AS c, MAX(v) AS m, MIN(s) AS f FROM moves GROUP BY k)"""
_OF_G = "(SELECT g, SUM(v) AS total, COUNT(*) AS c FROM moves GROUP BY g)"

_AGGREGATES = {
    "numbers": "COUNT(*), COUNT(v), SUM(v), MIN(v), MAX(v), AVG(v)",
    "doubles": "SUM(x), AVG(x), MIN(x), MAX(x)",
    "decimals": "SUM(CAST(x AS DECIMAL(5, 2))), MIN(CAST(v AS DECIMAL(3, 1)))",
    "overflows": """SUM(v + 2147483630), SUM(CAST(v + 32700 AS SMALLINT)),
        SUM(CAST(v AS BIGINT) + 9223372036854775790), AVG(CAST(v AS BIGINT) + 9223372036854775790),
        SUM(CAST(v + 110 AS TINYINT)), AVG(CAST(v + 110 AS TINYINT))""",
    "texts": "MIN(s), MAX(s), COUNT(s)",
    "times": "MIN(ts), MAX(ts)",
    "booleans": "MIN(v > 2), MAX(v > 2), COUNT(v > 2)",
    "lists": "LISTAGG(s), LISTAGG(s, '|')",
    "firsts": "FIRST_VALUE(v), FIRST_VALUE(s), FIRST_VALUE(id)",
    "lasts": "LAST_VALUE(v), LAST_VALUE(s), LAST_VALUE(id)",
    "distinct": "COUNT(DISTINCT v), SUM(DISTINCT v), AVG(DISTINCT v), COUNT(DISTINCT s)",
    "distinct_texts": "LISTAGG(DISTINCT s), COUNT(DISTINCT s)",
    "filters": "COUNT(*) FILTER (WHERE v > 2), MAX(v) FILTER (WHERE s = 'x')",
    "distinct_filters": """COUNT(DISTINCT v) FILTER (WHERE s IS NOT NULL),
        COUNT(DISTINCT v) FILTER (WHERE s = 'x'), SUM(DISTINCT v) FILTER (WHERE x > 0)""",
    "collected": "COLLECT(v), COLLECT(s)",
    "collected_distinct": "COLLECT(DISTINCT s)",
    "arrays": "ARRAY_AGG(v), ARRAY_AGG(s)",
    "json": "JSON_ARRAYAGG(v), JSON_ARRAYAGG(s NULL ON NULL)",
    "json_objects": """JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE v),
        JSON_OBJECTAGG(KEY CAST(id AS STRING) VALUE s ABSENT ON NULL)""",
    "quotients": "COUNT(*) + SUM(v), SUM(v * 2) / COUNT(v), MOD(SUM(v), COUNT(v))",
}


#: One table: the changes of a key come in one order. The first column is the key.
CHAINS = {
    **{
        f"{name}_of_last": f"SELECT k, {a} FROM {LAST} GROUP BY k"
        for name, a in _AGGREGATES.items()
    },
    **{
        f"{name}_of_some": f"SELECT 'all', {a} FROM {LAST} WHERE v > 3"
        for name, a in _AGGREGATES.items()
    },
    **{f"{name}_of_top": f"SELECT s, {a} FROM {TOP} GROUP BY s" for name, a in _AGGREGATES.items()},
    "last": f"SELECT g, v, s FROM {LAST}",
    "some_of_last": f"SELECT g, v, s FROM {LAST} WHERE v > 2",
    "first": f"SELECT g, k, v FROM {FIRST}",
    "groups_of_first": f"SELECT k, COUNT(*), SUM(v) FROM {FIRST} GROUP BY k",
    "top": f"SELECT k, v, id, n FROM {TOP}",
    "top_without_place": f"SELECT k, v, id FROM {TOP}",
    "sum_of_top": f"SELECT 'all', SUM(v), COUNT(*) FROM {TOP}",
    "totals": f"SELECT * FROM {TOTALS}",
    "having": "SELECT k, SUM(v) FROM moves GROUP BY k HAVING MOD(SUM(v), 2) = 0",
    "having_without_value": "SELECT k FROM moves GROUP BY k HAVING COUNT(DISTINCT v) = 2",
    "having_of_last": f"SELECT v, COUNT(*) FROM {LAST} GROUP BY v HAVING COUNT(*) > 1",
    "groups_of_totals": f"""
        SELECT MOD(total, 3), COUNT(*), SUM(c), MIN(m), MAX(m) FROM {TOTALS}
        GROUP BY MOD(total, 3)""",
    "distinct_totals": f"SELECT 'all', COUNT(DISTINCT total), COUNT(DISTINCT f) FROM {TOTALS}",
    "totals_of_cases": f"""
        SELECT w, COUNT(*) FROM (
            SELECT CASE WHEN total > 10 THEN 'much' ELSE 'few' END AS w FROM {TOTALS})
        GROUP BY w""",
    "two_levels": """
        SELECT k, MAX(total), COUNT(*), LISTAGG(CAST(total AS STRING)) FROM (
            SELECT k, s, SUM(v) AS total FROM moves GROUP BY k, s) GROUP BY k""",
    "three_levels": """
        SELECT 'all', MAX(t), COUNT(*) FROM (
            SELECT k, MAX(total) AS t FROM (
                SELECT k, s, SUM(v) AS total FROM moves GROUP BY k, s) GROUP BY k)""",
    "distinct_rows": "SELECT DISTINCT k, v FROM moves",
    "counts_of_distinct_rows": """
        SELECT k, COUNT(*), SUM(v) FROM (SELECT DISTINCT k, v FROM moves) GROUP BY k""",
    "distinct_of_last": f"SELECT DISTINCT v FROM {LAST}",
    "counts_of_distinct_of_last": f"""
        SELECT 'all', COUNT(*), SUM(v) FROM (SELECT DISTINCT v FROM {LAST})""",
    "top_of_totals": _places("ORDER BY total DESC, k", TOTALS, "k, total", "<= 2"),
    "top_of_totals_with_place": _places("ORDER BY total DESC, k", TOTALS, "r, k, total", "<= 3"),
    "first_of_totals": _places("ORDER BY total DESC, k", TOTALS, "k, total", "= 1"),
    "least_of_totals": _places("ORDER BY total, k", TOTALS, "k, total", "<= 2"),
    "sum_of_top_of_totals": f"""
        SELECT 'all', SUM(total), COUNT(*) FROM (
            {_places("ORDER BY total DESC, k", TOTALS, "*", "<= 2")})""",
    "top_of_last": _places("ORDER BY v DESC, g", LAST, "g, v", "<= 3"),
    "top_of_last_with_place": _places("ORDER BY v, g", LAST, "r, g, v", "<= 2"),
    "top_of_last_by_key": _places(
        "PARTITION BY k ORDER BY v DESC NULLS LAST, g", LAST, "k, g, v", "<= 1"
    ),
    "order_with_limit": f"SELECT k, total FROM {TOTALS} ORDER BY total DESC, k LIMIT 2",
    "order_of_last_with_limit": f"SELECT g, v FROM {LAST} ORDER BY v, g LIMIT 3",
    "limit_of_last": f"SELECT g, v FROM {LAST} LIMIT 3",
    "nothing": f"SELECT 'all', COUNT(*), SUM(v) FROM {LAST} WHERE v > 100",
    "nothing_of_key": f"SELECT k, COUNT(*), SUM(v) FROM {LAST} WHERE v > 100 GROUP BY k",
    "elements_of_totals": f"""
        SELECT k, y FROM {TOTALS} CROSS JOIN UNNEST(ARRAY[total, CAST(c AS INT)]) AS u (y)""",
    "totals_of_windows": """
        SELECT k, COUNT(*), SUM(t) FROM (
            SELECT window_start, k, SUM(v) AS t
            FROM TABLE(TUMBLE(TABLE moves, DESCRIPTOR(ts), INTERVAL '2' MINUTE))
            GROUP BY window_start, window_end, k) GROUP BY k""",
}


def _joins() -> dict[str, str]:
    found = {}
    for kind in ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"):
        name = kind.replace(" JOIN", "").lower()
        joined = f"{TOTALS} t {kind} {LAST} l ON t.k = l.k"
        found |= {
            f"{name}_of_totals_and_last": f"SELECT t.k, t.total, l.g, l.v FROM {joined}",
            f"{name}_with_condition": f"""
                SELECT t.k, t.total, l.g, l.v FROM {joined} AND l.v > t.m - 3""",
            f"{name}_of_totals": f"""
                SELECT a.k, a.total, b.g, b.total FROM {TOTALS} a {kind} {_OF_G} b
                ON a.total = b.total""",
            f"counts_of_{name}": f"""
                SELECT k, COUNT(*), COUNT(v), SUM(v) FROM (
                    SELECT t.k, l.v FROM {joined} AND l.v IS NOT NULL) GROUP BY k""",
        }
    return found


#: Two tables, or keys that look alike where they are null: which rows come first is left to chance;
#: what is left in the end is compared.
SIDES = {
    **_joins(),
    "rollup": "SELECT k, s, COUNT(*), SUM(v) FROM moves GROUP BY ROLLUP (k, s)",
    "grouping_sets_of_last": f"""
        SELECT k, s, COUNT(*), SUM(v) FROM {LAST} GROUP BY GROUPING SETS ((k), (s), ())""",
    "in": f"""
        SELECT g, v FROM {LAST} WHERE v IN (SELECT m FROM {TOTALS} WHERE MOD(total, 2) = 0)""",
    "not_in": f"""
        SELECT g, v FROM {LAST} WHERE v NOT IN (SELECT m FROM {TOTALS} WHERE MOD(total, 2) = 0)""",
    "not_in_nulls": f"""
        SELECT g, v FROM {LAST} WHERE v NOT IN (SELECT v FROM {LAST} WHERE g < 3)""",
    "exists": f"""
        SELECT k, total FROM {TOTALS} t WHERE EXISTS (
            SELECT 1 FROM {LAST} l WHERE l.k = t.k AND l.v < t.c)""",
    "not_exists": f"""
        SELECT k, total FROM {TOTALS} t WHERE NOT EXISTS (
            SELECT 1 FROM {LAST} l WHERE l.k = t.k AND l.v < t.c)""",
    "counts_of_in": f"""
        SELECT s, COUNT(*) FROM {LAST}
        WHERE k IN (SELECT k FROM {TOTALS} WHERE MOD(total, 2) = 0) GROUP BY s""",
    "union_all": f"SELECT k, total FROM {TOTALS} UNION ALL SELECT s, v FROM {LAST}",
    "total_of_union_all": f"""
        SELECT k, SUM(v), COUNT(*) FROM (
            SELECT k, total AS v FROM {TOTALS} UNION ALL SELECT k, v FROM {LAST}) GROUP BY k""",
    "union": f"SELECT total FROM {TOTALS} UNION SELECT v FROM {LAST}",
    "intersect": f"SELECT total FROM {TOTALS} INTERSECT SELECT total FROM {_OF_G}",
    "intersect_all": f"SELECT v FROM {LAST} INTERSECT ALL SELECT v FROM {TOP}",
    "except": f"SELECT v FROM {LAST} EXCEPT SELECT m FROM {TOTALS}",
    "except_all": f"SELECT v FROM {LAST} EXCEPT ALL SELECT m FROM {TOTALS}",
    "greatest": f"SELECT g, v FROM {LAST} WHERE v = (SELECT MAX(v) FROM {LAST})",
    "cross": f"SELECT t.k, l.g FROM {TOTALS} t, {LAST} l WHERE t.total > l.v * 5",
    "three_sides": f"""
        SELECT t.k, l.g, b.total FROM {TOTALS} t LEFT JOIN {LAST} l ON t.k = l.k
        LEFT JOIN {_OF_G} b ON l.g = b.g""",
    "top_of_join": _places(
        "ORDER BY v DESC, g",
        f"(SELECT t.k, l.v, l.g FROM {TOTALS} t JOIN {LAST} l ON t.k = l.k)",
        "k, v",
        "<= 2",
    ),
}


def in_texts(names: list[str], source: str) -> str:
    """The query of another's rows, each as one text that begins with its first column."""
    columns = ", ".join(f"COALESCE(CAST(`{name}` AS STRING), 'NULL')" for name in names)
    return f"SELECT CONCAT_WS(';', {columns}) AS r FROM {source}"


def normal(text: str) -> str:
    """The text with rounded numbers, and the entries of multisets in order."""
    rounded = re.sub(
        r"-?\d+\.\d+(E-?\d+)?", lambda found: repr(round(float(found.group()), 6)), text
    )
    return re.sub(
        r"\{([^}\"]*)\}", lambda m: "{" + ", ".join(sorted(m.group(1).split(", "))) + "}", rounded
    )
