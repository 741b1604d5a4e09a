"""Queries by event time and the clock: a batch for what either of them passes, and then none."""

from __future__ import annotations

import datetime
import sys
import time

import pytest

from comparison import settings
from deployments import PROGRAMS, run
from sessions import wait_until
from streams import Source

START = datetime.datetime(2024, 5, 1)
BY_THE_WATERMARK = (
    "SELECT k, window_end, SUM(v) FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(at), "
    "INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end"
)
BY_THE_CLOCK = (
    "SELECT k, window_end, SUM(v) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(p), INTERVAL '4' SECOND)) "
    "GROUP BY k, window_start, window_end"
)
#: Timers remove what has expired of its state.
LATEST = (
    "SELECT k, at, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p) AS n FROM t) "
    "WHERE n = 1"
)


class Running:
    """The job of some insertions."""

    def __init__(self, spark, statements):
        self._spark = spark
        self._others = {query.id for query in spark.streams.active}
        self.result = statements.execute()
        self._progress = {}

    @property
    def query(self):
        (query,) = [each for each in self._spark.streams.active if each.id not in self._others]
        return query

    def batches(self):
        """The progress of all batches that have ended."""
        for each in self.query.recentProgress:
            # Spark reports of a query that rests, too, with the number of the batch to come.
            if "addBatch" in each["durationMs"]:
                self._progress[each["batchId"]] = each
        return [self._progress[batch] for batch in sorted(self._progress)]

    def close(self):
        self.result.get_job_client().cancel().result()


@pytest.fixture
def running(spark):
    made = []

    def run(statements):
        made.append(Running(spark, statements))
        return made[-1]

    yield run
    for each in made:
        each.close()


@pytest.mark.complete
@pytest.mark.parametrize(
    ("beside", "mode"),
    [
        pytest.param(BY_THE_CLOCK, "thread", id="windows-thread"),
        pytest.param(BY_THE_CLOCK, "process", id="windows-process", marks=pytest.mark.complete),
        pytest.param(LATEST, "thread", id="expiry-thread", marks=pytest.mark.complete),
        pytest.param(LATEST, "process", id="expiry-process", marks=pytest.mark.complete),
    ],
)
def test_queries_by_event_time_rest(spark, environment, tmp_path, capsys, running, beside, mode):
    t_env = environment("streaming", **{"table_exec_state_ttl": "1 h"})
    events = Source(spark, tmp_path, "k STRING; v BIGINT; at TIMESTAMP(3)")
    others = Source(spark, tmp_path, "k STRING; v BIGINT; at TIMESTAMP(3)")
    for source in events, others:
        source.add([("a", 1, START), ("b", 2, START + datetime.timedelta(seconds=30))])
    t_env.create_temporary_view("e", events.table(t_env, watermark=("at", 1)))
    t_env.create_temporary_view("t", others.table(t_env, proctime="p"))
    for name in "written", "beside":
        t_env.execute_sql(
            f"CREATE TABLE {name} (k STRING, at TIMESTAMP_LTZ(3), v BIGINT) "
            f"WITH ('connector' = 'print', 'print-identifier' = '{name}')"
        )
    statements = t_env.create_statement_set()
    statements.add_insert_sql(f"INSERT INTO written {BY_THE_WATERMARK}")
    statements.add_insert_sql(f"INSERT INTO beside {beside}")
    printed = []

    def lines(name):
        printed.extend(capsys.readouterr().out.splitlines())
        return [line for line in printed if line.startswith(name)]

    with settings(spark, {"spark.pyflow.execution-mode": mode}):
        job = running(statements)
    wait_until(lambda: len(lines("written")) == 1 and len(lines("beside")) == 2, "all is there", 90)
    time.sleep(4)
    # That of the rows, one for the watermark, and one or two for the ends of windows by the clock.
    assert 2 <= len(job.batches()) <= 4


@pytest.mark.complete
def test_windows_by_the_clock_rest_without_the_plugin(tmp_path):
    """A batch for their end, and then none."""
    (tmp_path / "a.csv").write_text("7\n")

    output = run([sys.executable, PROGRAMS / "clock_windows.py", tmp_path], tmp_path)

    assert "SUM 7" in output
    batches = int(output.partition("BATCHES ")[2].split()[0])
    assert batches <= 2
