"""Queries by time over rows that come for ever: `record_streams.py` keeps PyFlink's rows of them.

The table is that of `sql_queries`, whose rows are in the order of their times.
"""

from __future__ import annotations

_TUMBLE = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
_TUMBLE_4 = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '4' MINUTE))"
_SIDES = f"""
        (SELECT * FROM {_TUMBLE} WHERE amount < 15) l
        {{}} JOIN (SELECT * FROM {_TUMBLE} WHERE amount > 6) r
        ON l.window_start = r.window_start AND l.window_end = r.window_end"""
_SAME = "l.window_start = r.window_start AND l.window_end = r.window_end AND l.who = r.who"

OVER = {
    "over_range_of_all": """
        SELECT id, COUNT(*) OVER w, MIN(amount) OVER w, MAX(amount) OVER w, AVG(amount) OVER w
        FROM clicks WINDOW w AS (ORDER BY ts)""",
    "over_rows_of_all": """
        SELECT id, FIRST_VALUE(who) OVER w, LAST_VALUE(who) OVER w, LISTAGG(who) OVER w
        FROM clicks WINDOW w AS (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)""",
    "over_two_rows": """
        SELECT id, MIN(amount) OVER w, MAX(amount) OVER w, AVG(amount) OVER w, COUNT(*) OVER w
        FROM clicks WINDOW w AS (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)""",
    "over_interval": """
        SELECT id, MIN(amount) OVER w, SUM(amount) OVER w, COUNT(who) OVER w
        FROM clicks WINDOW w AS (PARTITION BY who ORDER BY ts
            RANGE BETWEEN INTERVAL '2' MINUTE PRECEDING AND CURRENT ROW)""",
    "over_distinct": """
        SELECT id, COUNT(DISTINCT who) OVER w, SUM(DISTINCT amount) OVER w
        FROM clicks WINDOW w AS (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)""",
    "over_lag": """
        SELECT id, LAG(id) OVER w, LAG(amount, 2, 0) OVER w
        FROM clicks WINDOW w AS (ORDER BY ts)""",
    "over_row_number": """
        SELECT id, ROW_NUMBER() OVER (PARTITION BY who ORDER BY ts) AS n FROM clicks""",
    "over_then_window": """
        SELECT window_start, MAX(total) FROM TABLE(TUMBLE(TABLE totals, DESCRIPTOR(ts),
        INTERVAL '1' MINUTE)) GROUP BY window_start, window_end""",
    "over_windows": f"""
        SELECT window_start, SUM(n) OVER (ORDER BY window_time) FROM (
            SELECT window_start, window_time, COUNT(*) AS n FROM {_TUMBLE}
            GROUP BY window_start, window_end, window_time)""",
}

WINDOWS = {
    "window_top_2": f"""
        SELECT id, window_start, n FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, who
                ORDER BY amount DESC) AS n FROM {_TUMBLE_4}) WHERE n <= 2""",
    "window_top_of_groups": f"""
        SELECT who, total, window_end FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end
                ORDER BY total DESC) AS n FROM (
                SELECT who, window_start, window_end, SUM(amount) AS total FROM {_TUMBLE_4}
                GROUP BY who, window_start, window_end)) WHERE n = 1""",
    "window_last_rows": f"""
        SELECT id, who, window_end FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, who
                ORDER BY ts DESC) AS n FROM {_TUMBLE_4}) WHERE n = 1""",
    "window_inner_join": "SELECT l.id, r.id, l.window_start FROM" + _SIDES.format("INNER"),
    "window_left_join": "SELECT l.id, r.id, l.window_start FROM" + _SIDES.format("LEFT"),
    "window_right_join": "SELECT l.id, r.id, r.window_start FROM" + _SIDES.format("RIGHT"),
    "window_full_join": "SELECT l.id, r.id FROM" + _SIDES.format("FULL"),
    "window_semi_join": f"""
        SELECT id, window_start FROM {_TUMBLE_4} l WHERE amount < 15 AND EXISTS (
            SELECT * FROM (SELECT * FROM {_TUMBLE_4} WHERE amount > 6) r WHERE {_SAME})""",
    "window_anti_join": f"""
        SELECT id, window_start FROM {_TUMBLE_4} l WHERE amount < 15 AND NOT EXISTS (
            SELECT * FROM (SELECT * FROM {_TUMBLE_4} WHERE amount > 15) r WHERE {_SAME})""",
    "window_grouped_outside": f"""
        SELECT who, window_start, COUNT(*) FROM (
            SELECT who, window_start, window_end FROM {_TUMBLE} WHERE amount > 4)
        GROUP BY who, window_start, window_end""",
    "session_of_all": """
        SELECT window_start, window_end, COUNT(*)
        FROM TABLE(SESSION(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTES))
        GROUP BY window_start, window_end""",
    "session_rows": """
        SELECT id, window_start, window_end
        FROM TABLE(SESSION(TABLE clicks PARTITION BY who, DESCRIPTOR(ts), INTERVAL '2' MINUTES))""",
}

#: A view of rows with an OVER window.
SETUP = """
    CREATE TEMPORARY VIEW totals AS SELECT id, ts, SUM(amount) OVER (ORDER BY ts) AS total
    FROM clicks"""

QUERIES = {**OVER, **WINDOWS}
