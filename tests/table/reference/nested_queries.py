"""Queries with queries in their expressions: values, IN, EXISTS, ANY, ALL, and LATERAL.

Tables have nulls, duplicates and keys without partners; one has no rows.
"""

from __future__ import annotations

from pathlib import Path

ROWS = {
    "t": [(1, 1, 10), (2, 2, 20), (3, 2, 25), (4, 3, None), (5, None, 7), (6, 4, 1)],
    "u": [(1, 10), (1, 12), (2, 20), (2, None), (None, 7), (5, 9), (3, 30), (1, 10)],
    "v": [(1, 10, "x"), (2, 20, "y"), (3, 30, None), (7, 7, "z")],
}
COLUMNS = {
    "t": "id INT, k INT, a INT",
    "u": "k INT, b INT",
    "v": "k INT, b INT, name STRING",
}
NO_ROWS = "SELECT * FROM u WHERE k > 100"


def tables(directory: Path) -> list[str]:
    """Write the files of the tables, and return the statements that make these.

    Flink refuses queries that name columns of others where the tables are VALUES.
    """
    statements = []
    for name, rows in ROWS.items():
        path = directory / f"{name}.csv"
        lines = [",".join("null" if v is None else str(v) for v in row) for row in rows]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        statements.append(
            f"CREATE TABLE {name} ({COLUMNS[name]}) WITH ('connector' = 'filesystem', "
            f"'path' = '{path}', 'format' = 'csv', 'csv.null-literal' = 'null')"
        )
    return [*statements, f"CREATE TEMPORARY VIEW no_rows AS {NO_ROWS}"]


# Queries of one value.
VALUES = {
    "max_of_each": "SELECT id, (SELECT MAX(b) FROM u WHERE u.k = t.k) FROM t",
    "count_of_each": "SELECT id, (SELECT COUNT(*) FROM u WHERE u.k = t.k) FROM t",
    "count_of_values": "SELECT id, (SELECT COUNT(b) FROM u WHERE u.k = t.k) FROM t",
    "sum_of_each_or_zero": """
        SELECT id, (SELECT COALESCE(SUM(b), 0) FROM u WHERE u.k = t.k) FROM t""",
    "count_and_one": "SELECT id, (SELECT COUNT(*) + 1 FROM u WHERE u.k = t.k) FROM t",
    "expressions_of_counts": """
        SELECT id, (SELECT CASE WHEN COUNT(*) = 0 THEN 'none' ELSE 'some' END
                    FROM u WHERE u.k = t.k),
               (SELECT COUNT(*) * 10 + COALESCE(MAX(b), -1) FROM u WHERE u.k = t.k) + a
        FROM t""",
    "count_of_nothing": "SELECT id, (SELECT COUNT(*) FROM no_rows n WHERE n.k = t.k) FROM t",
    "count_distinct_of_each": "SELECT id, (SELECT COUNT(DISTINCT b) FROM u WHERE u.k = t.k) FROM t",
    "more_than_average": "SELECT id FROM t WHERE a > (SELECT AVG(b) FROM u WHERE u.k = t.k)",
    "value_is_null": "SELECT id FROM t WHERE (SELECT MAX(b) FROM u WHERE u.k = t.k) IS NULL",
    "count_is_zero": "SELECT id FROM t WHERE (SELECT COUNT(*) FROM u WHERE u.k = t.k) = 0",
    "value_under_or": """
        SELECT id FROM t WHERE a = 1 OR a > (SELECT MIN(b) FROM u WHERE u.k = t.k)""",
    "value_by_other_conditions": "SELECT id, (SELECT MAX(b) FROM u WHERE u.b < t.a) FROM t",
    "count_by_other_conditions": "SELECT id, (SELECT COUNT(*) FROM u WHERE u.k <> t.k) FROM t",
    "count_by_two_conditions": """
        SELECT id, (SELECT COUNT(*) FROM u WHERE u.k = t.k AND u.b >= t.a) FROM t""",
    "value_by_or": "SELECT id, (SELECT MAX(b) FROM u WHERE u.k = t.k OR u.b = t.a) FROM t",
    "value_with_outer_columns": "SELECT id, (SELECT MAX(b + t.a) FROM u WHERE u.k = t.k) FROM t",
    "value_of_outer_columns": "SELECT id, (SELECT MAX(b) + t.a FROM u WHERE u.k = t.k) FROM t",
    "value_without_aggregate": "SELECT id, (SELECT name FROM v WHERE v.k = t.k) FROM t",
    "value_of_several_rows": "SELECT id, (SELECT b FROM u WHERE u.k = t.k) FROM t",
    "plain_value_of_several_rows": "SELECT id, (SELECT b FROM u) FROM t",
    "value_of_distinct": """
        SELECT id, (SELECT DISTINCT k FROM u WHERE u.k = t.k) FROM t""",
    "value_of_limit": """
        SELECT id, (SELECT b FROM u WHERE u.k = t.k ORDER BY b DESC NULLS LAST LIMIT 1) FROM t""",
    "value_of_group": """
        SELECT id, (SELECT MAX(b) FROM u WHERE u.k = t.k GROUP BY u.k) FROM t""",
    "value_of_group_having": """
        SELECT id, (SELECT MAX(b) FROM u WHERE u.k = t.k GROUP BY u.k
        HAVING COUNT(*) > 1) FROM t""",
    "value_having": """
        SELECT id, (SELECT COUNT(*) FROM u WHERE u.k = t.k HAVING COUNT(*) < 2) FROM t""",
    "value_of_value": """
        SELECT id, (SELECT MAX(b) FROM u WHERE u.k = t.k AND u.b > (
            SELECT MIN(v.b) FROM v WHERE v.k = u.k)) FROM t""",
    "value_two_levels_out": """
        SELECT id, (SELECT MAX(b) FROM u WHERE u.k = t.k AND EXISTS (
            SELECT 1 FROM v WHERE v.k = u.k AND v.b <= t.a)) FROM t""",
    "value_skips_a_level": """
        SELECT id, (SELECT COUNT(*) FROM u WHERE u.b > (
            SELECT MIN(v.b) FROM v WHERE v.k = t.k)) FROM t""",
    "value_of_derived_table": """
        SELECT id, (SELECT SUM(b) FROM (SELECT DISTINCT b FROM u WHERE u.k = t.k) d) FROM t""",
    "value_of_join": """
        SELECT id, (SELECT COUNT(name) FROM u JOIN v ON u.k = v.k WHERE u.k = t.k) FROM t""",
    "value_of_union": """
        SELECT id, (SELECT MAX(b) FROM (
            SELECT b FROM u WHERE u.k = t.k UNION ALL SELECT b FROM v WHERE v.k = t.k) x) FROM t""",
    "value_without_from": "SELECT id, (SELECT t.a + 1) FROM t",
    "two_values": """
        SELECT id, (SELECT MAX(b) FROM u WHERE u.k = t.k) - (SELECT MIN(b) FROM u WHERE u.k = t.k)
        FROM t WHERE id < 5""",
    "value_in_functions": """
        SELECT id, COALESCE((SELECT MAX(b) FROM u WHERE u.k = t.k), a, -1),
               CASE WHEN (SELECT COUNT(*) FROM u WHERE u.k = t.k) > 1 THEN 'many' ELSE 'few' END
        FROM t""",
    "value_of_derived_rows": """
        SELECT k, (SELECT MAX(b) FROM u WHERE u.k = d.k) FROM (
            SELECT k, SUM(a) AS s FROM t GROUP BY k) d""",
    "value_in_aggregate": "SELECT SUM((SELECT MAX(b) FROM u WHERE u.k = t.k)) FROM t",
    "value_beside_groups": """
        SELECT k, SUM(a), (SELECT MAX(b) FROM u WHERE u.k = t.k) FROM t GROUP BY k""",
    "plain_value_beside_groups": """
        SELECT k, SUM(a) + (SELECT MAX(b) FROM u) FROM t GROUP BY k""",
    "value_in_having": """
        SELECT k, SUM(a) FROM t GROUP BY k HAVING SUM(a) > (SELECT AVG(b) FROM u)""",
    "value_of_each_in_having": """
        SELECT k, SUM(a) FROM t GROUP BY k
        HAVING SUM(a) > (SELECT AVG(b) FROM u WHERE u.k = t.k)""",
    "value_in_join": """
        SELECT t.id, v.name FROM t JOIN v ON t.k = v.k AND t.a >= (SELECT MIN(b) FROM u)""",
    "value_of_each_in_join": """
        SELECT t.id, v.name FROM t JOIN v
        ON t.k = v.k AND v.b >= (SELECT MAX(b) FROM u WHERE u.k = t.k)""",
    "value_in_left_join": """
        SELECT t.id, v.name FROM t LEFT JOIN v ON t.k = v.k AND v.b > (SELECT MIN(b) FROM u)""",
    "value_of_each_in_left_join": """
        SELECT t.id, v.name FROM t LEFT JOIN v
        ON t.k = v.k AND v.b >= (SELECT MAX(b) FROM u WHERE u.k = v.k)""",
    "comparison_of_two_values": """
        SELECT id FROM t
        WHERE (SELECT COUNT(*) FROM u WHERE u.k = t.k)
        > (SELECT COUNT(*) FROM v WHERE v.k = t.k)""",
    "value_of_nulls": """
        SELECT id, (SELECT COUNT(*) FROM u WHERE u.k IS NOT DISTINCT FROM t.k) FROM t""",
    "value_with_inner_name_first": "SELECT id, (SELECT MAX(k) FROM u WHERE k = t.k) FROM t",
    "value_of_over": """
        SELECT id, (SELECT MAX(n) FROM (
            SELECT COUNT(*) OVER (PARTITION BY b) AS n FROM u WHERE u.k = t.k) x) FROM t""",
}

# IN and EXISTS as conditions of WHERE with more than FROM and WHERE in them.
CONDITIONS = {
    "in_aggregate": "SELECT id FROM t WHERE a IN (SELECT MAX(b) FROM u WHERE u.k = t.k)",
    "in_group": "SELECT id FROM t WHERE a IN (SELECT MAX(b) FROM u WHERE u.b >= t.a GROUP BY u.k)",
    "in_group_having": """
        SELECT id FROM t WHERE k IN (SELECT u.k FROM u GROUP BY u.k HAVING COUNT(*) > 1)""",
    "in_group_having_of_each": """
        SELECT id FROM t WHERE k IN (
            SELECT u.k FROM u WHERE u.b >= t.a GROUP BY u.k HAVING COUNT(*) > 1)""",
    "in_limit": """
        SELECT id FROM t WHERE a IN (SELECT b FROM u WHERE u.k = t.k ORDER BY b LIMIT 2)""",
    "in_distinct": "SELECT id FROM t WHERE a IN (SELECT DISTINCT b FROM u WHERE u.k = t.k)",
    "not_in_of_each": "SELECT id FROM t WHERE a NOT IN (SELECT b FROM u WHERE u.k = t.k)",
    "not_in_aggregate": "SELECT id FROM t WHERE a NOT IN (SELECT MAX(b) FROM u WHERE u.k = t.k)",
    "not_in_nothing": "SELECT id FROM t WHERE a NOT IN (SELECT b FROM no_rows)",
    "not_in_nulls": "SELECT id FROM t WHERE a NOT IN (SELECT b FROM u)",
    "in_two_columns": "SELECT id FROM t WHERE (k, a) IN (SELECT k, b FROM u)",
    "not_in_two_columns": "SELECT id FROM t WHERE (k, a) NOT IN (SELECT k, b FROM u)",
    "exists_group_having": """
        SELECT id FROM t WHERE EXISTS (
            SELECT 1 FROM u WHERE u.k = t.k GROUP BY u.b HAVING COUNT(*) > 1)""",
    "exists_having": """
        SELECT id FROM t WHERE EXISTS (
            SELECT COUNT(*) FROM u WHERE u.k = t.k HAVING COUNT(*) = 0)""",
    "not_exists_having": """
        SELECT id FROM t WHERE NOT EXISTS (
            SELECT MAX(b) FROM u WHERE u.k = t.k HAVING COUNT(*) > 1)""",
    "exists_limit": "SELECT id FROM t WHERE EXISTS (SELECT b FROM u WHERE u.k = t.k LIMIT 1)",
    "exists_offset": """
        SELECT id FROM t WHERE EXISTS (SELECT b FROM u WHERE u.k = t.k ORDER BY b OFFSET 1 ROWS)""",
    "exists_union": """
        SELECT id FROM t WHERE EXISTS (
            SELECT k FROM u WHERE u.k = t.k UNION ALL SELECT k FROM v WHERE v.b = t.a)""",
    "exists_of_unknown_name": "SELECT id FROM t WHERE EXISTS (SELECT MAX(x) FROM u)",
    "exists_by_inequality": """
        SELECT id FROM t WHERE EXISTS (SELECT * FROM u WHERE u.b > t.a AND u.k < t.k)""",
    "not_exists_by_inequality": """
        SELECT id FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.b > t.a AND u.k <> t.k)""",
    "exists_in_exists": """
        SELECT id FROM t WHERE EXISTS (SELECT * FROM u WHERE u.k = t.k AND NOT EXISTS (
            SELECT * FROM v WHERE v.k = u.k AND v.b = t.a))""",
    "in_derived_table": """
        SELECT id FROM t WHERE a IN (
            SELECT m FROM (SELECT MAX(b) AS m FROM u WHERE u.k = t.k) x)""",
    "two_conditions": """
        SELECT id FROM t WHERE k IN (SELECT k FROM u)
        AND EXISTS (SELECT * FROM v WHERE v.b = t.a)""",
    "in_outer_column": "SELECT id FROM t WHERE a IN (SELECT t.a FROM u WHERE u.k = 5)",
    "exists_with_value": """
        SELECT id FROM t WHERE EXISTS (
            SELECT * FROM u WHERE u.k = t.k AND u.b > (SELECT MIN(b) FROM v WHERE v.k = u.k))""",
    "in_with_value": """
        SELECT id
        FROM t WHERE (SELECT MAX(b) FROM u WHERE u.k = t.k) IN (SELECT b FROM v)""",
}

# IN and EXISTS as values of three-valued logic.
MARKS = {
    "in_under_or": "SELECT id FROM t WHERE id = 6 OR a IN (SELECT b FROM u)",
    "not_in_under_or": "SELECT id FROM t WHERE id = 6 OR a NOT IN (SELECT b FROM u)",
    "not_in_without_nulls_under_or": """
        SELECT id FROM t WHERE id = 6 OR a NOT IN (SELECT b FROM v)""",
    "exists_under_or": """
        SELECT id FROM t WHERE id = 6 OR EXISTS (SELECT * FROM u WHERE u.k = t.k AND u.b > 15)""",
    "not_exists_under_or": """
        SELECT id FROM t WHERE id = 1 OR NOT EXISTS (SELECT * FROM u WHERE u.k = t.k)""",
    "in_as_column": "SELECT id, a IN (SELECT b FROM u) FROM t",
    "not_in_as_column": "SELECT id, a NOT IN (SELECT b FROM u) FROM t",
    "in_as_column_without_nulls": """
        SELECT id, a IN (SELECT b FROM v), a NOT IN (SELECT b FROM v)
        FROM t""",
    "in_as_column_of_each": "SELECT id, a IN (SELECT b FROM u WHERE u.k = t.k) FROM t",
    "not_in_as_column_of_each": "SELECT id, a NOT IN (SELECT b FROM u WHERE u.k = t.k) FROM t",
    "in_nothing_as_column": """
        SELECT id, a IN (SELECT b FROM no_rows), a NOT IN (SELECT b FROM no_rows) FROM t""",
    "in_two_columns_as_column": "SELECT id, (k, a) IN (SELECT k, b FROM u) FROM t",
    "exists_as_column": "SELECT id, EXISTS (SELECT * FROM u WHERE u.k = t.k) FROM t",
    "not_exists_as_column": "SELECT id, NOT EXISTS (SELECT * FROM u WHERE u.k = t.k) FROM t",
    "plain_exists_as_column": """
        SELECT id, EXISTS (SELECT * FROM u), EXISTS (SELECT * FROM no_rows) FROM t""",
    "exists_of_aggregate_as_column": """
        SELECT id, EXISTS (SELECT MAX(b) FROM u WHERE u.k = t.k) FROM t""",
    "exists_as_column_by_inequality": """
        SELECT id, EXISTS (SELECT * FROM u WHERE u.b > t.a) FROM t""",
    "in_case": """
        SELECT id, CASE WHEN a IN (SELECT b FROM u) THEN 'in'
                        WHEN a NOT IN (SELECT b FROM v) THEN 'not in' ELSE 'unknown' END FROM t""",
    "exists_in_case": """
        SELECT id, CASE WHEN EXISTS (SELECT * FROM u WHERE u.k = t.k) THEN 'found' ELSE 'none' END
        FROM t""",
    "in_is_null": "SELECT id FROM t WHERE (a IN (SELECT b FROM u)) IS NULL",
    "in_is_not_true": "SELECT id FROM t WHERE (a IN (SELECT b FROM u)) IS NOT TRUE",
    "in_having": """
        SELECT k, SUM(a) FROM t GROUP BY k HAVING SUM(a) IN (SELECT b FROM u)""",
    "key_in_having": """
        SELECT k, SUM(a) FROM t GROUP BY k HAVING k IN (SELECT k FROM u)""",
    "exists_in_having": """
        SELECT k, SUM(a) FROM t GROUP BY k
        HAVING EXISTS (SELECT * FROM u WHERE u.k = t.k AND u.b > 15)""",
    "in_beside_groups": "SELECT k, SUM(a) IN (SELECT b FROM u) FROM t GROUP BY k",
    "in_aggregate_argument": """
        SELECT SUM(CASE WHEN a IN (SELECT b FROM v) THEN 1 ELSE 0 END) FROM t""",
    "count_where_exists": """
        SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT * FROM u WHERE u.k = t.k)) FROM t""",
    "in_join": "SELECT t.id, v.name FROM t JOIN v ON t.k = v.k AND t.a IN (SELECT b FROM u)",
    "exists_in_join": """
        SELECT t.id, v.name FROM t JOIN v
        ON t.k = v.k AND EXISTS (SELECT * FROM u WHERE u.k = v.k AND u.b = t.a)""",
    "in_left_join": """
        SELECT t.id, v.name
        FROM t LEFT JOIN v ON t.k = v.k AND t.a IN (SELECT b FROM u)""",
    "in_left_join_of_right_side": """
        SELECT t.id, v.name FROM t LEFT JOIN v ON t.k = v.k
        AND v.b NOT IN (SELECT b FROM u WHERE k = 1)""",
    "in_order": "SELECT id FROM t ORDER BY a IN (SELECT b FROM v), id",
    "in_or_in": """
        SELECT id FROM t WHERE a IN (SELECT b FROM u)
        OR k IN (SELECT k FROM v WHERE name IS NULL)""",
    "not_of_or": """
        SELECT id FROM t WHERE NOT (a IN (SELECT b FROM v)
        OR EXISTS (SELECT * FROM v WHERE v.k = t.k))""",
}

QUANTIFIED = {
    "equal_any": "SELECT id FROM t WHERE a = ANY (SELECT b FROM u)",
    "equal_some_of_each": "SELECT id FROM t WHERE a = SOME (SELECT b FROM u WHERE u.k = t.k)",
    "greater_than_any": "SELECT id FROM t WHERE a > ANY (SELECT b FROM u)",
    "greater_than_some": "SELECT id FROM t WHERE a > SOME (SELECT b FROM v)",
    "greater_than_all": "SELECT id FROM t WHERE a > ALL (SELECT b FROM u WHERE b < 20)",
    "at_least_all": "SELECT id FROM t WHERE a >= ALL (SELECT b FROM u)",
    "different_from_all": "SELECT id FROM t WHERE a <> ALL (SELECT b FROM v)",
    "different_from_any": "SELECT id FROM t WHERE a <> ANY (SELECT b FROM v)",
    "equal_all": "SELECT id FROM t WHERE a = ALL (SELECT b FROM v WHERE b = 20)",
    "all_of_nothing": "SELECT id FROM t WHERE a > ALL (SELECT b FROM no_rows)",
    "any_of_nothing": "SELECT id FROM t WHERE a > ANY (SELECT b FROM no_rows)",
    "greater_than_all_of_each": "SELECT id FROM t WHERE a > ALL (SELECT b FROM u WHERE u.k = t.k)",
    "greater_than_any_of_each": "SELECT id FROM t WHERE a > ANY (SELECT b FROM u WHERE u.k <> t.k)",
    "any_as_column": "SELECT id, a > ANY (SELECT b FROM u), a = ANY (SELECT b FROM u) FROM t",
    "all_as_column": "SELECT id, a > ALL (SELECT b FROM u), a <> ALL (SELECT b FROM v) FROM t",
    "any_of_values": "SELECT id FROM t WHERE a = ANY (VALUES (10), (20))",
    "any_of_list": "SELECT id FROM t WHERE a > ANY (10, 20)",
    "all_of_list": "SELECT id FROM t WHERE a > ALL (10, 20)",
}

LATERALS = {
    "lateral": """
        SELECT t.id, x.b FROM t CROSS JOIN LATERAL (SELECT b FROM u WHERE u.k = t.k) x""",
    "lateral_after_comma": """
        SELECT t.id, x.b FROM t, LATERAL (SELECT b FROM u WHERE u.k = t.k) AS x""",
    "lateral_top_2": """
        SELECT t.id, x.b FROM t CROSS JOIN LATERAL (
            SELECT b FROM v WHERE v.b >= t.a ORDER BY b LIMIT 2) x""",
    "lateral_top_of_equal_keys": """
        SELECT t.id, x.b FROM t, LATERAL (
            SELECT b FROM u WHERE u.k = t.k AND b IS NOT NULL ORDER BY b DESC LIMIT 1) x""",
    "left_lateral": """
        SELECT t.id, x.b FROM t LEFT JOIN LATERAL (
            SELECT b FROM u WHERE u.k = t.k ORDER BY b DESC LIMIT 1) x ON TRUE""",
    "left_lateral_of_aggregate": """
        SELECT t.id, x.n, x.s FROM t LEFT JOIN LATERAL (
            SELECT COUNT(*) AS n, SUM(b) AS s FROM u WHERE u.k = t.k) x ON TRUE""",
    "lateral_of_aggregate": """
        SELECT t.id, x.n, x.s FROM t CROSS JOIN LATERAL (
            SELECT COUNT(*) AS n, SUM(b) AS s FROM u WHERE u.k = t.k) x""",
    "lateral_of_groups": """
        SELECT t.id, x.k, x.n FROM t CROSS JOIN LATERAL (
            SELECT k, COUNT(*) AS n FROM u WHERE u.b > t.a GROUP BY k) x""",
    "lateral_by_inequality": """
        SELECT t.id, x.b FROM t CROSS JOIN LATERAL (SELECT b FROM v WHERE v.b > t.a) AS x (b)""",
    "lateral_with_condition": """
        SELECT t.id, x.b FROM t JOIN LATERAL (SELECT b FROM u WHERE u.k = t.k) x ON x.b > t.a""",
    "left_lateral_with_condition": """
        SELECT t.id, x.b FROM t LEFT JOIN LATERAL (
            SELECT b FROM u WHERE u.k = t.k) x ON x.b > t.a""",
    "lateral_without_names": "SELECT t.id, x.b FROM t CROSS JOIN LATERAL (SELECT b FROM v) x",
    "lateral_of_lateral": """
        SELECT t.id, x.b, y.name FROM t CROSS JOIN LATERAL (SELECT b FROM u WHERE u.k = t.k) x
        CROSS JOIN LATERAL (SELECT name FROM v WHERE v.b = x.b AND v.k = t.k) y""",
    "lateral_star": "SELECT * FROM t CROSS JOIN LATERAL (SELECT b FROM v WHERE v.k = t.k) x",
    "lateral_of_columns": "SELECT id, x.s FROM t, LATERAL (SELECT t.a + 1 AS s) x",
    "lateral_union": """
        SELECT id, x.n FROM t, LATERAL (
            SELECT t.a AS n UNION ALL SELECT b FROM v WHERE v.k = t.k) x""",
}

ALL = {**VALUES, **CONDITIONS, **MARKS, **QUANTIFIED, **LATERALS}

QUERIES = {"batch": ALL}
