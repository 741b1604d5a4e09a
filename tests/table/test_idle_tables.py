"""Unbounded tables that fall silent, and the watermark of the others."""

from __future__ import annotations

import json

WINDOWS = """
    SELECT window_start, COUNT(*)
    FROM TABLE(TUMBLE((SELECT * FROM busy UNION ALL SELECT * FROM quiet),
                      DESCRIPTOR(ts), INTERVAL '1' SECOND))
    GROUP BY window_start, window_end
"""


def test_an_idle_table_holds_no_watermark_back(streaming, tmp_path):
    streaming.get_config().set("table.exec.source.idle-timeout", "1 s")
    assert _first_window(streaming, tmp_path) == (0, 1)


def test_tables_that_are_idle_before_the_next_batch(streaming, tmp_path):
    """The watermark of the table that became idle last counts where no batch saw it alone."""
    config = streaming.get_config()
    config.set("table.exec.source.idle-timeout", "5 s")
    config.set("table.exec.mini-batch.enabled", "true")
    config.set("table.exec.mini-batch.size", "1000")
    config.set("table.exec.mini-batch.allow-latency", "3 s")
    assert _first_window(streaming, tmp_path) == (0, 1)


def _first_window(streaming, tmp_path):
    for name in ("busy", "quiet"):
        (tmp_path / name).mkdir()
        streaming.execute_sql(
            f"CREATE TABLE {name} (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ("
            f"'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'json', "
            "'source.monitor-interval' = '100 ms')"
        )
    rows = [{"ts": f"2024-01-01 00:00:0{second}"} for second in (0, 5)]
    (tmp_path / "busy" / "rows.json").write_text("\n".join(map(json.dumps, rows)))
    with streaming.execute_sql(WINDOWS).collect() as found:
        start, count = next(found)
    return start.second, count
