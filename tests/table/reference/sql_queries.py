"""Queries of SQL that run under PyFlink and under PyFlow: `record_sql.py` keeps PyFlink's rows.

Tables are made by SQL, too: of VALUES, and, where windows need a watermark, of a CSV file.
"""

from __future__ import annotations

from pathlib import Path

CLICKS = """\
1,ann,2024-01-01 00:00:05,10
2,bob,2024-01-01 00:00:20,20
3,ann,2024-01-01 00:01:10,5
4,bob,2024-01-01 00:02:30,7
5,ann,2024-01-01 00:02:40,1
6,cid,2024-01-01 00:12:00,30
"""

SETUP = [
    """
    CREATE TEMPORARY VIEW orders AS SELECT * FROM (VALUES
        (1, 'ann', 10, CAST(1.50 AS DECIMAL(10, 2)), DATE '2024-01-01'),
        (2, 'bob', 20, CAST(2.25 AS DECIMAL(10, 2)), DATE '2024-01-02'),
        (3, 'ann', 5, CAST(NULL AS DECIMAL(10, 2)), DATE '2024-01-02'),
        (4, 'cid', 7, CAST(4.00 AS DECIMAL(10, 2)), DATE '2024-02-01'),
        (5, CAST(NULL AS STRING), 1, CAST(0.10 AS DECIMAL(10, 2)), DATE '2024-02-29')
    ) AS t (id, customer, amount, price, day_of)
    """,
    """
    CREATE TEMPORARY VIEW customers (id, name, city) AS
    SELECT * FROM (VALUES (1, 'ann', 'Rome'), (2, 'bob', 'Oslo'), (3, 'dan', 'Bern')) AS c
    """,
    """
    CREATE TEMPORARY VIEW nested AS SELECT
        id, ARRAY[id, id + 1] AS numbers, MAP['a', id, 'b', 0] AS named,
        CAST(ROW(id, 'x') AS ROW<n INT, s STRING>) AS r
    FROM (VALUES (1), (2)) AS t (id)
    """,
    """
    CREATE TABLE clicks (
        id INT, who STRING, ts TIMESTAMP(3), amount INT,
        twice AS amount * 2,
        WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
    ) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
    """,
]

BOTH = {
    "literals": """
        SELECT 1, 2147483648, 1.5, 1e1, 'it''s', U&'\\0041', TRUE, CAST(NULL AS INT), -3,
               DATE '2020-02-29', TIMESTAMP '2020-01-01 10:00:00.123', .5""",
    "names": """
        SELECT id, id + 1, id AS x, customer || '!', COUNT(*) OVER_IT
        FROM orders GROUP BY id, customer""",
    "qualified": "SELECT o.id, orders.id FROM orders AS o, orders WHERE o.id = orders.id",
    "star_of_join": "SELECT * FROM orders o JOIN customers c ON o.customer = c.name",
    "star_of_one": "SELECT c.*, o.id FROM orders o JOIN customers c ON o.customer = c.name",
    "where": "SELECT id FROM orders WHERE amount > 5 AND NOT customer = 'cid' OR price IS NULL",
    "nulls": """
        SELECT id FROM orders
        WHERE customer IS NULL OR customer IS DISTINCT FROM 'ann' AND (price > 3) IS NOT TRUE""",
    "in_and_like": """
        SELECT id FROM orders
        WHERE customer IN ('ann', 'cid') AND customer NOT LIKE '_i%' OR amount BETWEEN 1 AND 4""",
    "between_symmetric": "SELECT id FROM orders WHERE amount BETWEEN SYMMETRIC 20 AND 7",
    "case": """
        SELECT id, CASE WHEN amount > 9 THEN 'much' WHEN amount > 5 THEN 'some' END,
               CASE customer WHEN 'ann' THEN 1 ELSE 0 END, IF(id > 2, 'a', 'bc'),
               COALESCE(customer, 'nobody'), NULLIF(id, 2)
        FROM orders""",
    "arithmetic": """
        SELECT id, amount / 3, amount % 3, MOD(amount, 4), CAST(price * 2 AS DECIMAL(10, 2)),
               price + amount, -amount,
               amount / 3.0, ABS(-amount), POWER(2, id),
               CAST(ROUND(price, 1) AS DECIMAL(10, 1)), FLOOR(price), CEIL(price)
        FROM orders""",
    "nulls_beside_numbers": """
        SELECT price / 0e0, LEFT(customer, 0), RIGHT(customer, -1),
               OVERLAY('abc' PLACING customer FROM -1 FOR 1), LOG(1e0, CAST(price AS DOUBLE)),
               GREATEST(amount, 3, id), LEAST(id, 2), GREATEST(customer, 'b'),
               GREATEST(day_of, DATE '2024-01-05')
        FROM orders""",
    "texts_read": """
        SELECT TRY_CAST('inf' AS DOUBLE), TRY_CAST('-Infinity' AS DOUBLE), TRY_CAST('nan' AS FLOAT),
               TRY_CAST('NaN' AS DOUBLE), TRY_CAST('INFINITY' AS FLOAT), TRY_CAST('1e1' AS DOUBLE),
               TRY_CAST('12' AS DATE), TRY_CAST('7-2' AS DATE), TRY_CAST('123-4-5' AS DATE),
               TRY_CAST('12' AS TIME), TRY_CAST('7' AS TIME), TRY_CAST('24' AS TIME)
        FROM orders WHERE id = 1""",
    "collections_read": """
        SELECT TRY_CAST(ARRAY['1', customer] AS ARRAY<INT>) IS NULL,
               CAST(TRY_CAST(ARRAY['1', '2'] AS ARRAY<INT>) AS STRING),
               CAST(TRY_CAST(ARRAY['1', CAST(NULL AS STRING)] AS ARRAY<INT>) AS STRING),
               TRY_CAST(MAP['a', customer] AS MAP<STRING, INT>) IS NULL,
               TRY_CAST(ROW('5', customer) AS ROW<a INT, b INT>) IS NULL,
               CAST(TRY_CAST(ARRAY[price * 1000] AS ARRAY<DECIMAL(4, 1)>) AS STRING)
        FROM orders""",
    "pairs_of_code_units": """
        SELECT id, CHAR_LENGTH('😀'), 'a😀b' || '|', SUBSTRING('a😀b', 3), customer || '😀',
               REVERSE('😀x'), CONCAT(customer, '😀') LIKE '%😀'
        FROM orders""",
    "strings": """
        SELECT UPPER(customer), CHAR_LENGTH(customer), SUBSTRING(customer FROM 2 FOR 1),
               SUBSTRING(customer, 2), TRIM(BOTH 'a' FROM customer),
                   TRIM(LEADING 'n' FROM customer),
               POSITION('n' IN customer), OVERLAY(customer PLACING 'xy' FROM 2 FOR 1),
               LPAD(customer, 5, '*'), REPLACE(customer, 'n', 'm'), customer SIMILAR TO '(a|b)%',
               REGEXP_EXTRACT(customer, '(.)b', 1), CONCAT_WS('-', customer, 'z')
        FROM orders""",
    "times": """
        SELECT EXTRACT(MONTH FROM day_of), YEAR(day_of), day_of + INTERVAL '1' DAY,
               day_of + INTERVAL '1' MONTH, TIMESTAMPDIFF(DAY, DATE '2024-01-01', day_of),
               TIMESTAMPADD(DAY, 2, day_of), CAST(day_of AS TIMESTAMP(3)),
               DATE_FORMAT(CAST(day_of AS TIMESTAMP(3)), 'yyyy/MM'),
               FLOOR(CAST(day_of AS TIMESTAMP(3)) TO MONTH)
        FROM orders""",
    "casts": """
        SELECT CAST('12' AS INT), TRY_CAST('x' AS INT), CAST(1.99 AS INT), CAST(12 AS STRING),
               CAST('2024-01-01' AS DATE), CAST(TRUE AS STRING), CAST(1 AS DECIMAL(5, 2)),
               CAST('2024-01-01 10:00:00' AS TIMESTAMP(3))""",
    "json": """
        SELECT JSON_VALUE(j, '$.a' RETURNING INT), JSON_VALUE(j, '$.z' DEFAULT 'none' ON EMPTY),
               JSON_EXISTS(j, '$.b'), JSON_QUERY(j, '$.b'), j IS JSON OBJECT,
               JSON_OBJECT(KEY 'k' VALUE 1, 'n' VALUE CAST(NULL AS INT) ABSENT ON NULL),
               JSON_ARRAY(1, 'x')
        FROM (VALUES ('{"a": 7, "b": [1, 2]}')) AS t (j)""",
    "collections": """
        SELECT numbers[2], named['a'], r.n, nested.r.s, CARDINALITY(numbers),
            ARRAY[1, 2], MAP['k', 1]
        FROM nested""",
    "unnest": "SELECT id, x FROM nested CROSS JOIN UNNEST(numbers) AS u (x)",
    "unnest_map": "SELECT id, k, v FROM nested CROSS JOIN UNNEST(named) AS u (k, v)",
    "unnest_rows": """
        SELECT id, n, s FROM (
            SELECT id, ARRAY[r, CAST(NULL AS ROW<n INT, s STRING>)] AS r FROM nested)
        CROSS JOIN UNNEST(r) AS u (n, s)""",
    "unnest_rows_or_nothing": """
        SELECT id, n, s FROM (
            SELECT id, ARRAY[CAST(NULL AS ROW<n INT, s STRING>)] AS r FROM nested)
        LEFT JOIN UNNEST(r) AS u (n, s) ON TRUE""",
    "values": "VALUES (1, 'a'), (2, 'bcd')",
    "values_of_types": "SELECT a + 1, b FROM (VALUES (1, 1.5), (2147483648, 2)) AS t (a, b)",
    "nested_query": "SELECT b FROM (SELECT id AS b, amount FROM orders) WHERE amount > 5",
    "common_tables": """
        WITH big (n, a) AS (SELECT id, amount FROM orders WHERE amount > 5),
             bigger AS (SELECT * FROM big WHERE a > 9)
        SELECT x.n, y.n FROM big x, bigger y WHERE x.a < y.a""",
    "inner_join": "SELECT o.id, c.city FROM orders o JOIN customers c ON o.customer = c.name",
    "join_of_expressions": """
        SELECT o.id, c.id FROM orders o JOIN customers c ON o.id = c.id + 1 AND o.amount > 5""",
    "join_using": "SELECT * FROM orders JOIN customers USING (id)",
    "natural_join": "SELECT customer, city FROM orders NATURAL JOIN customers",
    "join_of_three": """
        SELECT a.id, b.id, c.id FROM orders a JOIN orders b ON a.customer = b.customer
        JOIN customers c ON b.customer = c.name""",
    "union_all": "SELECT id FROM orders UNION ALL SELECT id FROM customers",
    "in_query": "SELECT id FROM orders WHERE customer IN (SELECT name FROM customers)",
    "exists": """
        SELECT id FROM orders o
        WHERE EXISTS (SELECT 1 FROM clicks c WHERE c.who = o.customer AND c.amount > 15)""",
    "exists_of_aggregate": """
        SELECT id FROM orders WHERE EXISTS (SELECT COUNT(*) FROM customers WHERE id > 100)""",
    "not_exists_of_aggregate": """
        SELECT id FROM orders o WHERE NOT EXISTS (
            SELECT MAX(id) FROM customers c WHERE c.name = o.customer)""",
    "rows_compared": """
        SELECT id, (customer, amount) IN (('ann', 10), ('bob', 1)),
               (customer, id) <> ('bob', 5), ((customer, id), 1) = (('bob', id), 1)
        FROM orders WHERE (customer, amount) NOT IN (('ann', 5), ('cid', 7))""",
    "group": """
        SELECT customer, COUNT(*), SUM(amount) AS total, AVG(amount), MIN(price), MAX(day_of)
        FROM orders GROUP BY customer""",
    "group_by_expression": "SELECT amount / 10, COUNT(*) FROM orders GROUP BY amount / 10",
    "group_without_keys": "SELECT COUNT(*), SUM(price), COUNT(DISTINCT customer) FROM orders",
    "having": """
        SELECT customer
        FROM orders GROUP BY customer HAVING COUNT(*) > 1 AND SUM(amount) > 3""",
    "filter": """
        SELECT COUNT(*) FILTER (WHERE amount > 5), SUM(amount) FILTER (WHERE id > 2)
        FROM orders""",
    "aggregate_of_aggregate": """
        SELECT n, COUNT(*) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer)
        GROUP BY n""",
    "distinct": "SELECT DISTINCT customer FROM orders",
    "group_window": """
        SELECT who, TUMBLE_START(ts, INTERVAL '1' MINUTE), TUMBLE_END(ts, INTERVAL '1' MINUTE),
            SUM(amount)
        FROM clicks GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE), who""",
    "hop_group_window": """
        SELECT HOP_START(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE), COUNT(*)
        FROM clicks GROUP BY HOP(ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)""",
    "tumble": """
        SELECT window_start, window_end, SUM(amount), SUM(twice)
        FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end""",
    "tumble_rows": """
        SELECT id, window_start, window_end, window_time
        FROM TABLE(TUMBLE(DATA => TABLE clicks, TIMECOL => DESCRIPTOR(ts),
            SIZE => INTERVAL '2' MINUTES))""",
    "tumble_offset": """
        SELECT window_start, COUNT(*)
        FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' SECOND))
        GROUP BY window_start, window_end""",
    "hop": """
        SELECT who, window_start, window_end, COUNT(*)
        FROM TABLE(HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTES, INTERVAL '2' MINUTES))
        GROUP BY who, window_start, window_end""",
    "cumulate": """
        SELECT window_start, window_end, SUM(amount)
        FROM TABLE(CUMULATE(TABLE clicks, DESCRIPTOR(ts),
            INTERVAL '1' MINUTES, INTERVAL '4' MINUTES))
        GROUP BY window_start, window_end""",
    "window_grouping_sets": """
        SELECT window_start, window_end, who, SUM(amount)
        FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '4' MINUTE))
        GROUP BY window_start, window_end, GROUPING SETS ((who), ())""",
    "window_join": """
        SELECT l.id, r.id, l.window_start
        FROM (SELECT * FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        WHERE who = 'ann') l
        JOIN (SELECT * FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        WHERE who = 'bob') r
        ON l.window_start = r.window_start AND l.window_end = r.window_end""",
    "window_top_n": """
        SELECT id, window_start FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end
                ORDER BY amount DESC) AS n
            FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '4' MINUTE))
        ) WHERE n <= 2""",
    "over_by_time": """
        SELECT id, SUM(amount) OVER (PARTITION BY who ORDER BY ts),
               COUNT(*) OVER (PARTITION BY who ORDER BY ts)
        FROM clicks""",
    "over_rows": """
        SELECT id, SUM(amount) OVER w FROM clicks
        WINDOW w AS (PARTITION BY who ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)""",
    "limit_of_order": "SELECT id, amount FROM orders ORDER BY amount DESC LIMIT 2",
    "value_of_query_in_where": """
        SELECT id FROM orders WHERE amount > (SELECT AVG(amount) FROM orders)
            AND (id = (SELECT MIN(id) FROM customers WHERE name <> 'ann')
                 OR customer IS NULL OR id < (SELECT COUNT(*) FROM (SELECT * FROM customers)))""",
    "no_value_of_query_in_where": """
        SELECT id FROM orders WHERE amount > (SELECT id FROM customers WHERE id > 9)
            OR id = (SELECT id FROM customers WHERE name = 'bob')""",
    "averages_of_large_decimals": """
        SELECT AVG(d), AVG(CASE WHEN n = 1 THEN d END) FROM (VALUES
            (1, CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0))),
            (2, CAST('99999999999999999999999999999999999998' AS DECIMAL(38, 0)))) AS t (n, d)""",
}

# The rows of a SELECT for which a condition on OVER windows holds.
QUALIFIED = {
    "qualify_first": """
        SELECT * FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY id) = 1""",
    "qualify_by_name": """
        SELECT id, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY id DESC) AS n
        FROM orders QUALIFY n = 1""",
    "qualify_by_other_columns": """
        SELECT customer AS who FROM orders AS o WHERE id < 5
        QUALIFY ROW_NUMBER() OVER (PARTITION BY who ORDER BY o.id) <= 2 AND amount > 5""",
    "qualify_in_from": """
        SELECT customer, COUNT(*) FROM (
            SELECT customer FROM orders
            QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount) <= 2
        ) GROUP BY customer""",
    "overlaps": """
        SELECT (TIME '2:55:00', INTERVAL '1' HOUR) OVERLAPS (TIME '3:30:00', INTERVAL '2' HOUR),
               (TIME '9:00:00', TIME '10:00:00') OVERLAPS (TIME '10:15:00', INTERVAL '3' HOUR),
               (day_of, INTERVAL 1 DAY) OVERLAPS (DATE '2024-01-02', DATE '2024-01-31') AND id > 1,
               NOT (day_of, day_of) OVERLAPS (DATE '2024-02-28', INTERVAL id DAY)
        FROM orders""",
    "intervals_of_numbers": """
        SELECT day_of + INTERVAL 1 DAY, day_of + INTERVAL id DAY, day_of - INTERVAL (id + 1) MONTH,
               TIMESTAMP '2024-01-01 00:00:00' + INTERVAL 90 MINUTE, day_of + INTERVAL -100 DAY,
               day_of - INTERVAL orders.amount YEAR
        FROM orders""",
}

BATCH = {
    "order": "SELECT id, customer FROM orders ORDER BY customer DESC, id",
    "order_by_hidden": "SELECT id FROM orders ORDER BY amount",
    "qualify_either": """
        SELECT id, amount + 1 FROM orders
        QUALIFY COUNT(*) OVER (PARTITION BY customer) = 2 OR amount > 10
        ORDER BY customer, id""",
    "qualify_distinct": """
        SELECT DISTINCT customer FROM orders QUALIFY SUM(amount) OVER (PARTITION BY customer) > 7
        ORDER BY customer""",
    "qualify_named_window": """
        SELECT id, customer FROM orders WINDOW w AS (PARTITION BY customer)
        QUALIFY COUNT(*) OVER w + MAX(amount) OVER w > 8""",
    "qualify_by_query": """
        SELECT id FROM orders
        QUALIFY MAX(amount) OVER (PARTITION BY customer) = (SELECT MAX(amount) FROM orders)""",
    "qualify_beside_query": """
        SELECT customer AS name FROM orders
        QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY id) = 1
            AND customer IN (SELECT name FROM customers)""",
    "qualify_without_window": "SELECT id FROM orders QUALIFY amount = 1",
    "order_by_place": "SELECT customer, id FROM orders ORDER BY 2 DESC",
    "order_by_aggregate": """
        SELECT customer
        FROM orders GROUP BY customer ORDER BY SUM(amount), customer""",
    "order_nulls": "SELECT id, price FROM orders ORDER BY price NULLS LAST, id",
    "offset": "SELECT id FROM orders ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY",
    "left_join": "SELECT o.id, c.city FROM orders o LEFT JOIN customers c ON o.customer = c.name",
    "right_join": "SELECT o.id, c.city FROM orders o RIGHT JOIN customers c ON o.customer = c.name",
    "full_join": """
        SELECT o.id, c.city
        FROM orders o FULL OUTER JOIN customers c ON o.customer = c.name""",
    "full_join_using": "SELECT id, amount, city FROM orders FULL JOIN customers USING (id)",
    "cross_join": "SELECT o.id, c.id FROM orders o CROSS JOIN customers c WHERE o.id < c.id",
    "join_without_equality": "SELECT o.id, c.id FROM orders o LEFT JOIN customers c ON o.id < c.id",
    "union": "SELECT id FROM orders UNION SELECT id FROM customers",
    "intersect": "SELECT id FROM orders INTERSECT SELECT id FROM customers",
    "except": "SELECT id FROM orders EXCEPT SELECT id FROM customers",
    "set_operations_bind": """
        SELECT id FROM orders UNION SELECT 9 EXCEPT (SELECT 1 UNION SELECT 2) INTERSECT SELECT 1""",
    "not_in_query": "SELECT id FROM orders WHERE id NOT IN (SELECT id FROM customers)",
    "not_in_query_with_nulls": """
        SELECT id FROM orders WHERE id NOT IN (SELECT NULLIF(id, 2)
        FROM customers)""",
    "not_exists": """
        SELECT id FROM orders o
        WHERE NOT EXISTS (SELECT * FROM clicks c WHERE c.who = o.customer)""",
    "value_of_query": "SELECT id, (SELECT MAX(id) FROM customers) FROM orders WHERE id < 3",
    "grouping_sets": """
        SELECT customer, id, SUM(amount), GROUPING(customer), GROUPING_ID(customer, id)
        FROM orders GROUP BY GROUPING SETS ((customer), (customer, id), ())""",
    "rollup": "SELECT customer, id, COUNT(*) FROM orders GROUP BY ROLLUP (customer, id)",
    "rollup_of_nothing": """
        SELECT customer, COUNT(*) FROM orders WHERE id > 100 GROUP BY ROLLUP (customer)""",
    "cube": "SELECT customer, id, COUNT(*) FROM orders GROUP BY CUBE (customer, id)",
    "top_n": """
        SELECT id FROM (
            SELECT id, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount DESC) AS n
            FROM orders
        ) WHERE n = 1""",
    "ranks": """
        SELECT id, RANK() OVER (ORDER BY customer), DENSE_RANK() OVER (ORDER BY customer),
               LAG(id, 1) OVER (ORDER BY id), LEAD(amount, 2, 0) OVER (ORDER BY id),
               FIRST_VALUE(id) OVER (PARTITION BY customer ORDER BY id)
        FROM orders""",
    "buckets": "SELECT id, NTILE(2) OVER (ORDER BY id), NTILE(9) OVER (ORDER BY id) FROM orders",
    "over_groups": """
        SELECT customer, SUM(amount), SUM(SUM(amount)) OVER (ORDER BY customer)
        FROM orders GROUP BY customer""",
    "over_all": """
        SELECT id, SUM(amount) OVER (), amount * 100 / SUM(amount) OVER (PARTITION BY customer)
        FROM orders""",
}

# Flink has these in streaming mode only.
STREAMING = {
    "session_group_window": """
        SELECT SESSION_START(ts, INTERVAL '1' MINUTE), SESSION_END(ts, INTERVAL '1' MINUTE),
            COUNT(*)
        FROM clicks GROUP BY SESSION(ts, INTERVAL '1' MINUTE)""",
    "session": """
        SELECT who, window_start, window_end, COUNT(*)
        FROM TABLE(SESSION(TABLE clicks PARTITION BY who, DESCRIPTOR(ts), INTERVAL '2' MINUTES))
        GROUP BY who, window_start, window_end""",
    "over_range": """
        SELECT id, SUM(amount) OVER (
            ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW)
        FROM clicks""",
    "array_of_distinct_values": """
        SELECT customer, ARRAY_AGG(DISTINCT amount > 6), COUNT(DISTINCT amount > 6),
               ARRAY_AGG(DISTINCT amount > 1)
        FROM orders GROUP BY customer""",
    "to_changelog": "SELECT * FROM TO_CHANGELOG(input => TABLE orders)",
    "to_changelog_of_updates": """
        SELECT * FROM TO_CHANGELOG(input => (
            SELECT customer, SUM(amount) AS total FROM orders
            WHERE customer IS NOT NULL GROUP BY customer))""",
    "to_changelog_with_codes": """
        SELECT c.kind, c.total FROM TO_CHANGELOG(
            (SELECT customer, SUM(amount) AS total FROM orders GROUP BY customer),
            DESCRIPTOR(kind), MAP['INSERT, UPDATE_AFTER', 'keep', 'DELETE', 'gone']) AS c""",
    "to_changelog_by_key": "SELECT * FROM TO_CHANGELOG(input => TABLE orders PARTITION BY id)",
    "to_changelog_of_other_kinds": """
        SELECT * FROM TO_CHANGELOG(input => TABLE orders, op_mapping => MAP['UPSERT', 'U'])""",
    "to_changelog_twice": """
        SELECT * FROM TO_CHANGELOG(input => TABLE orders, op => DESCRIPTOR(amount))""",
    "from_changelog": """
        SELECT * FROM FROM_CHANGELOG(input => (SELECT * FROM (VALUES
            ('INSERT', 1, 'a'), ('UPDATE_BEFORE', 1, 'a'), ('UPDATE_AFTER', 1, 'b'),
            ('INSERT', 2, 'c'), ('DELETE', 2, 'c')) AS t (op, id, v)))""",
    "from_changelog_with_codes": """
        SELECT v, COUNT(*) FROM FROM_CHANGELOG(
            input => (SELECT * FROM (VALUES ('c', 1, 'a'), ('r', 2, 'a'), ('d', 2, 'a'))
                AS t (code, id, v)),
            op => DESCRIPTOR(code), op_mapping => MAP['c, r', 'INSERT', 'd', 'DELETE'])
        GROUP BY v""",
    "from_changelog_with_another_code": """
        SELECT * FROM FROM_CHANGELOG(
            input => (SELECT customer AS op, id FROM orders))""",
    "from_changelog_without_old_rows": """
        SELECT * FROM FROM_CHANGELOG(
            input => (SELECT customer AS op, id FROM orders),
            op_mapping => MAP['ann', 'INSERT', 'bob', 'UPDATE_AFTER'])""",
    "from_changelog_of_updates": """
        SELECT * FROM FROM_CHANGELOG(input => (
            SELECT customer AS op, COUNT(*) FROM orders GROUP BY customer))""",
}

_TOTALS = "(SELECT who, SUM(amount) AS total FROM clicks GROUP BY who)"
_RANKED = """
        SELECT {} FROM (
            SELECT *, ROW_NUMBER() OVER ({}) AS n FROM {}
        ) WHERE n {}"""

# One table whose rows change the result, or change themselves: the changes come in an order.
ROLLING = {
    "top_2": _RANKED.format("id, amount", "ORDER BY amount DESC", "clicks", "<= 2"),
    "top_2_with_places": _RANKED.format("id, n", "ORDER BY amount", "clicks", "<= 2"),
    "top_of_each": _RANKED.format(
        "id, who", "PARTITION BY who ORDER BY amount DESC", "clicks", "= 1"
    ),
    "second_row": _RANKED.format("id", "ORDER BY amount DESC", "clicks", "BETWEEN 2 AND 2"),
    "top_of_totals": _RANKED.format("who, total", "ORDER BY total DESC", _TOTALS, "<= 2"),
    "first_clicks": _RANKED.format("id, who", "PARTITION BY who ORDER BY ts", "clicks", "= 1"),
    "last_clicks": _RANKED.format("id, who", "PARTITION BY who ORDER BY ts DESC", "clicks", "= 1"),
    "order_of_totals": f"SELECT * FROM {_TOTALS} ORDER BY total DESC LIMIT 2",
    "order_with_offset": "SELECT id, amount FROM clicks ORDER BY amount LIMIT 2 OFFSET 1",
    "limit_of_totals": f"SELECT * FROM {_TOTALS} LIMIT 2",
    "aggregates_of_totals": f"""
        SELECT COUNT(*), SUM(total), MIN(total), MAX(total), AVG(total), COUNT(DISTINCT total)
        FROM {_TOTALS} WHERE who IS NOT NULL""",
    "groups_of_counts": """
        SELECT n, COUNT(*) FROM (
            SELECT who, COUNT(*) AS n FROM clicks GROUP BY who) GROUP BY n""",
    "distinct_of_counts": """
        SELECT DISTINCT n FROM (
            SELECT who, COUNT(*) AS n FROM clicks GROUP BY who)""",
    "having_of_totals": f"""
        SELECT MOD(total, 2), COUNT(*) FROM {_TOTALS} GROUP BY MOD(total, 2)
        HAVING COUNT(*) < 3""",
    "three_groups": f"""
        SELECT MOD(m, 2), SUM(s) FROM (
            SELECT MOD(total, 3) AS m, SUM(total) AS s FROM {_TOTALS} GROUP BY MOD(total, 3))
        GROUP BY MOD(m, 2)""",
}

_SUMS = "(SELECT customer, SUM(amount) AS total FROM orders GROUP BY customer)"

# Two tables: which rows come first is left to chance, what is left in the end is not.
BOTH_SIDES = {
    "full_join_of_rows": BATCH["full_join"],
    "left_join_of_rows": BATCH["left_join"],
    "left_join_of_totals": f"""
        SELECT t.customer, t.total, c.city
        FROM {_SUMS} t LEFT JOIN customers c ON t.customer = c.name""",
    "right_join_of_totals": f"""
        SELECT t.customer, t.total, c.city
        FROM {_SUMS} t RIGHT JOIN customers c ON t.customer = c.name""",
    "full_join_of_totals": f"""
        SELECT a.customer, a.total, b.n FROM {_SUMS} a FULL JOIN (
            SELECT customer, COUNT(*) AS n FROM orders WHERE amount > 5 GROUP BY customer) b
        ON a.customer = b.customer AND a.total > b.n""",
    "join_of_totals": f"""
        SELECT a.customer, a.total, o.id
        FROM {_SUMS} a JOIN orders o ON a.customer = o.customer AND a.total > o.amount""",
    "join_of_totals_with_other_condition": f"""
        SELECT a.customer, o.id FROM {_SUMS} a LEFT JOIN orders o
        ON a.customer = o.customer AND MOD(a.total + o.id, 2) = 0""",
    "groups_of_join": """
        SELECT city, COUNT(id), SUM(amount) FROM (
            SELECT o.id, o.amount, c.city
            FROM orders o FULL JOIN customers c ON o.customer = c.name) GROUP BY city""",
    "in_totals": f"""
        SELECT id FROM orders WHERE amount IN (SELECT total FROM {_SUMS})""",
    "totals_in_query": f"""
        SELECT * FROM {_SUMS} WHERE customer IN (SELECT name FROM customers)""",
    "not_in_totals": f"SELECT id FROM orders WHERE amount NOT IN (SELECT total FROM {_SUMS})",
    "union_of_rows": BATCH["union"],
    "intersect_of_rows": BATCH["intersect"],
    "except_of_rows": BATCH["except"],
    "set_operations_of_rows": BATCH["set_operations_bind"],
    "union_all_of_totals": f"""
        SELECT total FROM {_SUMS} UNION ALL SELECT CAST(id AS INT) FROM customers""",
    "value_of_totals": f"SELECT id, (SELECT MAX(total) FROM {_SUMS}) FROM customers",
    "grouping_sets_of_rows": BATCH["grouping_sets"],
    "rollup_of_rows": BATCH["rollup"],
}

QUERIES = {
    "batch": {**BOTH, **QUALIFIED, **BATCH},
    "streaming": {**BOTH, **QUALIFIED, **STREAMING, **ROLLING, **BOTH_SIDES},
}


# What is left is compared: the rows of `orders` have no order of their own in Flink, and changes of
# two groups by one row may come in any.
SETTLED = {
    "value_of_query_in_where",
    "no_value_of_query_in_where",
    "aggregate_of_aggregate",
    "limit_of_order",
    "having_of_totals",
    *BOTH_SIDES,
}


def tables(directory: Path) -> list[str]:
    """Write the files of the tables, and return the statements that make these."""
    path = directory / "clicks.csv"
    path.write_text(CLICKS, encoding="utf-8")
    return [statement.replace("{path}", str(path)) for statement in SETUP]


def ordered(query: str) -> bool:
    """Whether the rows of a query come in an order of their own."""
    return "ORDER BY" in query.split("OVER")[0].split("FROM (")[0] and "OVER (" not in query


def outcome(t_env, query, schema_of):
    """Return columns and rows of a query as texts, or its error."""
    try:
        table = t_env.sql_query(query)
        schema = schema_of(table)
        with table.execute().collect() as rows:
            found = [[str(row.get_row_kind()), *map(repr, row)] for row in rows]
    except Exception as error:
        return {"error": str(error)}
    return {"schema": schema, "rows": found}
