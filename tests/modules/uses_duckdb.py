"""A module that uses DuckDB's default connection: while it is imported, and in a function."""

from __future__ import annotations

from duckdb import execute, sql

execute("set TimeZone = 'Asia/Tokyo'")
sql("create macro twice(n) as 2 * n")


def doubled(frame):
    """Return the column n of a frame, each number twice."""
    return sql("select twice(n) as n from frame order by n").fetchall()
