"""Statements of the Table API whose calls of the JVM are counted, in PyFlow and in PyFlink alike.

``python table_statements.py PACKAGE first`` runs a small program and prints a JSON object with the
moments, by the monotonic clock, at which it has imported the package, made its environment and got
its first row. ``python table_statements.py PACKAGE statements`` prints calls and seconds of each
statement, and ``python table_statements.py PACKAGE calls`` the calls alone. The package is
``pyflow`` or ``pyflink``.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from py4j.java_gateway import GatewayClient

# How a Python object that is gone frees the JVM's: a thread of py4j's does so, at any time.
_RELEASE = "m\n"

FIRST = "SELECT a, UPPER(b) FROM (VALUES (1, 'x'), (2, 'y')) AS t(a, b) WHERE a > 1"

TABLES = {
    "orders": """CREATE TABLE orders (
        id BIGINT, customer INT, amount DOUBLE, note STRING, ts TIMESTAMP(3),
        WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
    ) WITH ('connector' = 'datagen'{bound})""",
    "customers": """CREATE TABLE customers (
        id INT, name STRING, country STRING
    ) WITH ('connector' = 'datagen'{bound})""",
    "results": """CREATE TABLE results (id BIGINT, amount DOUBLE) WITH (
        'connector' = 'blackhole'
    )""",
}
_BOUND = ", 'number-of-rows' = '10'"


@dataclass(frozen=True)
class Statement:
    """A statement.

    Attributes
    ----------
    sql : str
    streaming : bool
        Whether its mode is streaming, and its tables are unbounded; otherwise it is batch.
    is_query : bool
        Whether it is a query, which is planned and not run; otherwise it is executed.
    """

    sql: str
    streaming: bool = False
    is_query: bool = True


_NUMBERED = (
    "SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount DESC) AS n FROM orders"
)
_MINUTES = "TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"

STATEMENTS = {
    "values": Statement("SELECT 1, 'a', TRUE"),
    "projection": Statement("SELECT id + 1 AS n, UPPER(note) AS note FROM orders"),
    "filter": Statement("SELECT id FROM orders WHERE amount > 10 AND note LIKE 'a%'"),
    "group by": Statement("SELECT customer, COUNT(*), SUM(amount) FROM orders GROUP BY customer"),
    "having": Statement(
        "SELECT customer, MAX(amount) FROM orders GROUP BY customer HAVING COUNT(*) > 1"
    ),
    "join": Statement(
        "SELECT o.id, c.name FROM orders AS o JOIN customers AS c ON o.customer = c.id"
    ),
    "over": Statement(
        "SELECT id, SUM(amount) OVER (PARTITION BY customer ORDER BY ts) AS total FROM orders"
    ),
    "union and order": Statement(
        "SELECT id FROM orders UNION ALL SELECT id + 1 FROM orders ORDER BY id LIMIT 10"
    ),
    "nested": Statement(
        "WITH big AS (SELECT * FROM orders WHERE amount > 10), per_country AS ("
        "SELECT c.country, SUM(b.amount) AS total FROM big AS b "
        "JOIN customers AS c ON b.customer = c.id GROUP BY c.country) "
        "SELECT country, CASE WHEN total > 100 THEN 'high' ELSE 'low' END FROM per_country "
        "WHERE country IN (SELECT country FROM customers WHERE name IS NOT NULL)"
    ),
    "create table": Statement(
        "CREATE TEMPORARY TABLE more (id BIGINT) WITH ('connector' = 'blackhole')", is_query=False
    ),
    "create view": Statement(
        "CREATE TEMPORARY VIEW big AS SELECT id, amount FROM orders WHERE amount > 10",
        is_query=False,
    ),
    "view": Statement("SELECT COUNT(*) FROM big"),
    "explain": Statement("EXPLAIN SELECT id FROM orders WHERE amount > 10", is_query=False),
    "insert": Statement("INSERT INTO results SELECT id, amount FROM orders", is_query=False),
    "Python function": Statement("SELECT add_one(id) FROM orders"),
    "pandas function": Statement("SELECT add_two(id) FROM orders"),
    "stream projection": Statement("SELECT id + 1 AS n, UPPER(note) FROM orders", streaming=True),
    "stream group by": Statement(
        "SELECT customer, COUNT(*), SUM(amount) FROM orders GROUP BY customer", streaming=True
    ),
    "stream join": Statement(
        "SELECT o.id, c.name FROM orders AS o JOIN customers AS c ON o.customer = c.id",
        streaming=True,
    ),
    "stream over": Statement(
        "SELECT id, SUM(amount) OVER (PARTITION BY customer ORDER BY ts) AS total FROM orders",
        streaming=True,
    ),
    "stream Top-N": Statement(f"SELECT id, n FROM ({_NUMBERED}) WHERE n <= 3", streaming=True),
    "stream window": Statement(
        f"SELECT window_start, customer, SUM(amount) FROM {_MINUTES} "
        "GROUP BY window_start, window_end, customer",
        streaming=True,
    ),
}


class Calls:
    """Counts the calls of the JVM that the program waits for.

    Attributes
    ----------
    number : int
        So many so far, of the main thread: others release objects, and follow jobs that run.
    """

    def __init__(self) -> None:
        self.number = 0
        self._send = GatewayClient.send_command
        calls = self

        def send_command(client: Any, command: str, *options: Any, **named: Any) -> Any:
            is_main = threading.current_thread() is threading.main_thread()
            if is_main and not command.startswith(_RELEASE):
                calls.number += 1
            return calls._send(client, command, *options, **named)

        GatewayClient.send_command = send_command

    def of(self, work: Callable[[], Any]) -> dict[str, float]:
        """Return the calls and the seconds of some work."""
        calls, start = self.number, time.perf_counter()
        work()
        return {"calls": self.number - calls, "seconds": time.perf_counter() - start}


def _environment(package: str, streaming: bool) -> Any:
    table = import_module(f"{package}.table")
    settings = table.EnvironmentSettings
    chosen = settings.in_streaming_mode() if streaming else settings.in_batch_mode()
    return table.TableEnvironment.create(chosen)


def first_row(package: str) -> dict[str, float]:
    """Return the moments of a small program."""
    import_module(f"{package}.table")
    imported = time.monotonic()
    environment = _environment(package, streaming=False)
    created = time.monotonic()
    _take_row(environment)
    return {"imported": imported, "created": created, "first row": time.monotonic()}


def _take_row(environment: Any) -> None:
    with environment.execute_sql(FIRST).collect() as rows:
        next(iter(rows))


def count(package: str) -> dict[str, dict[str, float]]:
    """Return calls and seconds of ``create``, of the first row and of each statement."""
    calls = Calls()
    environments = {}

    def create() -> None:
        environments[False] = _environment(package, streaming=False)

    figures = {"create": calls.of(create)}
    figures["first row"] = calls.of(lambda: _take_row(environments[False]))
    environments[True] = _environment(package, streaming=True)
    for streaming, environment in environments.items():
        _add_tables(package, environment, streaming)
    for name, statement in STATEMENTS.items():
        environment = environments[statement.streaming]
        run = environment.sql_query if statement.is_query else environment.execute_sql
        figures[name] = calls.of(partial(run, statement.sql))
    return figures


def _add_tables(package: str, environment: Any, streaming: bool) -> None:
    """Add the tables and functions of the statements."""
    udf = import_module(f"{package}.table.udf").udf
    for sql in TABLES.values():
        environment.execute_sql(sql.format(bound="" if streaming else _BOUND))
    add_one = udf(lambda n: n + 1, result_type="BIGINT")
    add_two = udf(lambda n: n + 2, result_type="BIGINT", func_type="pandas")
    environment.create_temporary_system_function("add_one", add_one)
    environment.create_temporary_system_function("add_two", add_two)


def count_calls(package: str) -> dict[str, int]:
    """Return the calls alone."""
    return {name: int(figures["calls"]) for name, figures in count(package).items()}


if __name__ == "__main__":
    work = {"first": first_row, "statements": count, "calls": count_calls}[sys.argv[2]]
    print(json.dumps(work(sys.argv[1]), indent=1))
