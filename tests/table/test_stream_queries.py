"""Queries of SQL by time over unbounded rows give the rows of PyFlink.

The clicks of the recordings are in a directory that is watched, with one that comes long after and
moves the watermark past all of them.
"""

from __future__ import annotations

import datetime

import pytest
import recordings
import sql_queries
import stream_queries

from comparison import settings
from pyflow.table.udf import udaf
from streams import Source, changes

RECORDED = recordings.load("stream_queries")
#: What stands for the others, which are run with all tests.
SHORT = ["over_then_window", "window_top_of_groups", "session_rows"]
LONG = [name for name in stream_queries.QUERIES if name not in SHORT]


@pytest.fixture
def clicks(streaming, spark, tmp_path):
    """An environment with the table."""
    (tmp_path / "clicks.csv").write_text(f"{sql_queries.CLICKS}7,zed,2024-01-02 00:00:00,0\n")
    statement = sql_queries.SETUP[-1].replace("{path}", str(tmp_path))
    statement = statement.replace("'format'", "'source.monitor-interval' = '1 s', 'format'")
    streaming.execute_sql(statement)
    streaming.execute_sql(stream_queries.SETUP)
    yield streaming
    for query in spark.streams.active:
        query.stop()


def rows_of(spark, t_env, queries):
    """The rows that queries which run at once give, sorted."""
    results = {name: t_env.sql_query(query).execute() for name, query in queries.items()}
    for query in spark.streams.active:
        query.processAllAvailable()
    found = {}
    for name, result in results.items():
        with result.collect() as rows:
            count = result._make_rows()._rows.qsize()
            taken = [next(rows) for _ in range(count)]
        found[name] = sorted([str(row.get_row_kind()), *map(repr, row)] for row in taken)
    return found


def queries(names):
    return {name: stream_queries.QUERIES[name] for name in names}


def recorded(names):
    return {name: sorted(RECORDED[name]["rows"]) for name in names}


def test_rows_are_those_of_pyflink(spark, clicks):
    assert rows_of(spark, clicks, queries(SHORT)) == recorded(SHORT)


@pytest.mark.complete
@pytest.mark.parametrize("name", LONG)
def test_more_rows_are_those_of_pyflink(spark, clicks, name):
    assert rows_of(spark, clicks, queries([name])) == recorded([name])


@pytest.mark.complete
@pytest.mark.parametrize("name", SHORT)
def test_rows_are_those_of_pyflink_in_process_mode(spark, clicks, name):
    with settings(spark, {"spark.pyflow.execution-mode": "process"}):
        assert rows_of(spark, clicks, queries([name])) == recorded([name])


@udaf(result_type="DOUBLE", func_type="pandas")
def mean(values):
    return values.mean()


def test_pandas_aggregates_of_windows(spark, clicks):
    clicks.create_temporary_function("mean", mean)
    query = """
        SELECT who, mean(amount) FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts),
        INTERVAL '4' MINUTE)) GROUP BY who, window_start, window_end"""

    found = rows_of(spark, clicks, {"mean": query})["mean"]

    means = [("ann", 16 / 3), ("bob", 13.5), ("cid", 30.0)]
    assert found == [["+I", repr(who), repr(value)] for who, value in means]


@pytest.mark.parametrize("mode", ["thread", pytest.param("process", marks=pytest.mark.complete)])
def test_windows_go_on_from_a_checkpoint(spark, streaming, tmp_path, mode):
    source = Source(spark, tmp_path, "k STRING; v BIGINT; at TIMESTAMP(3)")
    streaming.create_temporary_view("t", source.table(streaming, watermark=("at", 5)))
    table = streaming.sql_query("""
        SELECT k, v FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k
                ORDER BY v DESC) AS n
            FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(at), INTERVAL '10' SECOND))) WHERE n = 1""")

    def found(*rows):
        midnight = datetime.datetime(2024, 1, 1)
        source.add([(k, v, midnight + datetime.timedelta(seconds=s)) for k, v, s in rows])
        batches = changes(table, tmp_path / "checkpoint", mode)
        return sorted(row[1:] for batch in batches for row in batch)

    assert found(("a", 1, 1), ("a", 5, 2), ("b", 2, 3)) == []
    assert found(("a", 3, 4), ("a", 9, 12), ("z", 0, 40)) == [("a", 5), ("a", 9), ("b", 2)]
