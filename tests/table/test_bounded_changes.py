"""Results of bounded rows in streaming mode, where operators with state make them of one batch.

What they give is compared with PyFlink in `test_sql_queries` and `test_table_programs`.
"""

from __future__ import annotations

import datetime
import sys

import pytest

from comparison import MODE, settings
from pyflow.table.expressions import col, lit
from pyflow.table.window import Session, Tumble
from pyflow.util.exceptions import TableException

ORDERS = """
    CREATE TEMPORARY VIEW orders AS SELECT * FROM (VALUES
        (1, 'ann', 10), (2, 'bob', 20), (3, 'ann', 5), (4, 'cid', 7)) AS t (id, who, amount)"""
TOTALS = "(SELECT who, SUM(amount) AS total FROM orders GROUP BY who)"
CLICKS = """
    CREATE TABLE clicks (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'csv')"""


@pytest.fixture
def orders(streaming):
    streaming.execute_sql(ORDERS)
    return streaming


def rows(table):
    with table.execute().collect() as found:
        return [(str(row.get_row_kind()), *row) for row in found]


def test_a_mini_batch_gives_each_key_once(orders):
    orders.get_config().set("table.exec.mini-batch.enabled", "true")

    totals = rows(orders.sql_query(f"SELECT * FROM {TOTALS}"))
    highest = rows(orders.sql_query(f"SELECT MAX(total), COUNT(*) FROM {TOTALS}"))

    assert sorted(totals) == [("+I", "ann", 15), ("+I", "bob", 20), ("+I", "cid", 7)]
    assert highest == [("+I", 20, 3)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT PERCENTILE(total, 0.5) FROM {TOTALS}", [("+I", 15.0)]),
        (f"SELECT id FROM orders WHERE amount NOT IN (SELECT total FROM {TOTALS} WHERE total > 7)"
         " AND id < 3", [("+I", 1)]),
    ],
    ids=["aggregate", "condition"],
)  # fmt: skip
def test_what_no_operator_supports_is_computed_at_the_end(orders, query, expected):
    assert rows(orders.sql_query(query)) == expected


def test_operators_with_state_say_which_package_they_lack(orders, monkeypatch):
    for name in list(sys.modules):
        if name.startswith("pyspark.sql.streaming.proto.State"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "google.protobuf", None)

    with pytest.raises(TableException, match=r"google\.protobuf.*pip install 'pyflow\[table\]'"):
        orders.sql_query(f"SELECT MAX(total) FROM {TOTALS}").execute()


def test_sums_of_decimals_are_exact_up_to_their_last_digit(streaming):
    """Null while they have too many digits; Flink's start anew with the next value."""
    great = 10**38 - 10
    lines = [(1, great), (2, great), (1, 5), (2, -great)]
    values = ", ".join(f"({key}, '{number}')" for key, number in lines)
    streaming.execute_sql(
        "CREATE TEMPORARY VIEW numbers AS SELECT k, CAST(t AS DECIMAL(38, 0)) AS n "
        f"FROM (VALUES {values}) AS v (k, t)"
    )
    last = "SELECT k, LAST_VALUE(n) AS n FROM numbers GROUP BY k"

    found = rows(streaming.sql_query(f"SELECT SUM(n) FROM ({last})"))

    sums = [change[1] for change in found if change[0] in ("+I", "+U")]
    assert sums == [great, None, great, great + 5, 5, 5 - great]


def test_tables_that_are_not_written_by_a_key_refuse_conflicts(streaming):
    insert = "INSERT INTO t VALUES (1, 'a'), (1, 'b') ON CONFLICT DO ERROR"
    columns = "(n INT, s STRING, PRIMARY KEY (n) NOT ENFORCED)"
    streaming.execute_sql(f"CREATE TABLE t {columns} WITH ('connector' = 'print')")
    with pytest.raises(TableException, match=r"not written by a key.* 'print' writes all changes"):
        streaming.execute_sql(insert)
    streaming.execute_sql("DROP TABLE t")
    streaming.execute_sql(f"CREATE TABLE t {columns} WITH ('connector' = 'blackhole')")
    streaming.execute_sql(insert).wait()


def test_rows_are_those_of_process_mode(orders, spark):
    query = f"""
        SELECT n, COUNT(*), MAX(total) FROM (
            SELECT *, ROW_NUMBER() OVER (ORDER BY total DESC) AS n FROM {TOTALS}
        ) WHERE n <= 2 GROUP BY n"""
    in_threads = rows(orders.sql_query(query))

    with settings(spark, {MODE: "process"}):
        in_processes = rows(orders.sql_query(query))

    assert in_threads == in_processes
    assert in_threads[-1][1:] == (2, 1, 15)


_WINDOWS = "TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            f"""SELECT l.id, r.id FROM (SELECT * FROM {_WINDOWS} WHERE id < 2) l
            FULL JOIN (SELECT * FROM {_WINDOWS} WHERE id > 1) r
            ON l.window_start = r.window_start AND l.window_end = r.window_end""",
            [",2", "1,"],
        ),
        (
            """SELECT l.id, r.id FROM clicks l LEFT JOIN clicks r
            ON l.id = r.id - 1 AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '2' MINUTE""",
            ["1,2", "2,"],
        ),
    ],
    ids=["windows", "interval"],
)
def test_outer_joins_by_time_are_written_where_rows_are_only_added(
    streaming, tmp_path, query, expected
):
    (tmp_path / "clicks.csv").write_text("1,2024-01-01 00:00:05\n2,2024-01-01 00:01:05\n")
    streaming.execute_sql(CLICKS.format(tmp_path / "clicks.csv"))
    streaming.execute_sql(
        "CREATE TABLE pairs (l INT, r INT)"
        f" WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/pairs', 'format' = 'csv')"
    )

    streaming.execute_sql(f"INSERT INTO pairs {query}").wait()

    written = "".join(file.read_text() for file in (tmp_path / "pairs").glob("part-*"))
    assert sorted(written.split()) == expected


def test_windows_by_processing_time_end_with_the_input(orders):
    timed = orders.sql_query("SELECT who, amount, PROCTIME() AS at FROM orders")
    tumbling = timed.window(Tumble.over(lit(1).day).on(col("at")).alias("w"))
    sessions = timed.window(Session.with_gap(lit(1).minute).on(col("at")).alias("w"))
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)

    days = rows(
        tumbling.group_by(col("w"), col("who")).select(
            col("who"), col("amount").sum, col("w").start, col("w").end
        )
    )
    counts = rows(sessions.group_by(col("w")).select(col("amount").count))
    orders.create_temporary_view("timed", timed)
    top = rows(
        orders.sql_query("""
            SELECT who, amount, n FROM (
                SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end
                    ORDER BY amount DESC) AS n
                FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(at), INTERVAL '1' DAY))) WHERE n < 3""")
    )

    assert sorted(row[:3] for row in days) == [
        ("+I", "ann", 15), ("+I", "bob", 20), ("+I", "cid", 7)
    ]  # fmt: skip
    (start,) = {row[3] for row in days}
    (end,) = {row[4] for row in days}
    assert start <= now + datetime.timedelta(minutes=5)
    assert end - start == datetime.timedelta(days=1)
    assert counts == [("+I", 4)]
    assert top == [("+I", "bob", 20, 1), ("+I", "ann", 10, 2)]


def test_there_are_as_many_tasks_as_cores(spark, environment):
    from pyflow.table import EnvironmentSettings, TableEnvironment

    key = "spark.sql.shuffle.partitions"
    before = spark.conf.get(key)
    spark.conf.unset(key)
    try:
        TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        assert spark.conf.get(key, None) is None
        TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        assert spark.conf.get(key) == str(spark.sparkContext.defaultParallelism)
    finally:
        spark.conf.set(key, before)
