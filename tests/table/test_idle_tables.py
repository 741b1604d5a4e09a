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
    for name, kind in (("busy", "TIMESTAMP(3)"), ("quiet", "TIMESTAMP(3)")):
        (tmp_path / name).mkdir()
        streaming.execute_sql(
            f"CREATE TABLE {name} (ts {kind}, WATERMARK FOR ts AS ts) WITH ("
            f"'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'json', "
            "'source.monitor-interval' = '100 ms')"
        )
    rows = [{"ts": f"2024-01-01 00:00:0{second}"} for second in (0, 5)]
    (tmp_path / "busy" / "rows.json").write_text("\n".join(map(json.dumps, rows)))
    with streaming.execute_sql(WINDOWS).collect() as found:
        start, count = next(found)
    assert (start.second, count) == (0, 1)
