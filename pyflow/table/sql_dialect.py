"""Dialects of SQL."""

__all__ = ["SqlDialect"]


class SqlDialect:
    """Dialects of SQL: Flink's own, and Hive's, which is not read here."""

    DEFAULT = 0
    HIVE = 1
