"""Jobs over unbounded rows that go on from their checkpoint, while no rows come."""

from __future__ import annotations

import datetime
import json

import pytest

from sessions import wait_until
from streams import Source

START = datetime.datetime(2024, 5, 1)
SINKS = {
    "files": "'connector' = 'filesystem', 'format' = 'json', 'path' = '{}'",
    "print": "'connector' = 'print'",
}
EVENT_TIME = (
    "SELECT k, SUM(v) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(at), INTERVAL '10' SECOND)) "
    "GROUP BY k, window_start, window_end"
)
BY_THE_CLOCK = "SELECT k, SUM(v) FROM t GROUP BY k, SESSION(p, INTERVAL '15' SECOND)"


def is_committed(checkpoints):
    return any(checkpoints.glob("**/commits/0"))


@pytest.mark.parametrize("mode", ["thread", pytest.param("process", marks=pytest.mark.complete)])
@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize(
    "query",
    [
        pytest.param(EVENT_TIME, id="event-time"),
        pytest.param(BY_THE_CLOCK, id="clock", marks=pytest.mark.complete),
    ],
)
def test_windows_end_after_a_restart_without_rows(
    environment, spark, tmp_path, capsys, query, sink, mode
):
    target = tmp_path / "target"
    t_env = environment(execution_checkpointing_dir=str(tmp_path / "checkpoints"))
    t_env.get_config().set("python.execution-mode", mode)
    by_time = query is EVENT_TIME
    if by_time:
        # The batch that would end the window comes that late.
        for key in ("table.exec.mini-batch.allow-latency", "execution.checkpointing.interval"):
            t_env.get_config().set(key, "1 h")
        t_env.get_config().set("table.exec.mini-batch.enabled", "true")
    source = Source(spark, tmp_path, "k STRING; v BIGINT; at TIMESTAMP(3)")
    times = (START, START, START + datetime.timedelta(seconds=30))
    source.add([(k, v, at) for (k, v), at in zip((("a", 1), ("a", 2), ("b", 4)), times)])
    options = {"watermark": ("at", 1)} if by_time else {"proctime": "p"}
    t_env.create_temporary_view("t", source.table(t_env, **options))
    options = SINKS[sink].format(target)
    t_env.execute_sql(f"CREATE TABLE written (k STRING, v BIGINT) WITH ({options})")
    printed = []

    def found():
        if sink == "files":
            lines = [each for file in target.glob("part-*") for each in file.open()]
            return sorted(tuple(json.loads(each).values()) for each in lines)
        printed.extend(capsys.readouterr().out.splitlines())
        return sorted(printed)

    def run(until, what):
        job = t_env.execute_sql(f"INSERT INTO written {query}").get_job_client()
        try:
            wait_until(until, what, 120)
        finally:
            job.cancel().result()

    expected = [("a", 3)] if by_time else [("a", 3), ("b", 4)]
    if sink == "print":
        expected = [f"+I[{k}, {v}]" for k, v in expected]

    run(lambda: is_committed(tmp_path / "checkpoints"), "the rows are read")
    assert found() == []
    run(lambda: found() == expected, "the windows have ended")
    if not by_time:
        # That of the rows, one after the restart, and that in which the sessions end.
        assert len(list((tmp_path / "checkpoints").glob("**/commits/[0-9]*"))) <= 3
