"""The example of visits has each page view once, also when it is killed and started again."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from deployments import killed_at_the_end
from sessions import wait_until

pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")

from views import visit

ROOT = Path(__file__).resolve().parents[2]


def test_views_of_a_visit_are_less_than_a_gap_apart() -> None:
    draw = random.Random(1)
    visits = [visit(draw, 1_000) for _ in range(500)]
    for found in visits:
        times = [view.at for _, view in found]
        assert times[0] == 1_000
        assert all(0 < after - before < 5_000 for before, after in pairwise(times))
    delays = [sent - view.at for found in visits for sent, view in found]
    assert min(delays) >= 0
    assert 0.01 < sum(delay >= 8_000 for delay in delays) / len(delays) < 0.1


def shown(log: Path) -> tuple[int, int]:
    """The visits that have ended and the views that were late, as last told."""
    found = re.findall(r"([\d,]+) visits ended, ([\d,]+) views late", log.read_text())
    visits, late = found[-1] if found else ("0", "0")
    return int(visits.replace(",", "")), int(late.replace(",", ""))


@pytest.mark.complete
@pytest.mark.parametrize("modes", [("thread", "thread"), ("process", "thread")])
def test_every_view_is_in_a_visit_or_late(tmp_path: Path, modes: tuple[str, str]) -> None:
    """Killed, then going on in another process, and ended by Ctrl-C."""
    logs = [tmp_path / f"{number}.log" for number in range(2)]
    commands = [
        [
            *(sys.executable, ROOT / "examples/page_visits/main.py", "--folder", tmp_path),
            *("--rate", "20", "--mode", mode),
        ]
        for mode in modes
    ]
    with killed_at_the_end(commands[0], tmp_path, logs[0], PYTHONPATH=str(ROOT)):
        wait_until(lambda: min(shown(logs[0])) > 0, "visits have ended, and views are late", 400)
    with killed_at_the_end(commands[1], tmp_path, logs[1], PYTHONPATH=str(ROOT)) as process:
        wait_until(lambda: min(shown(logs[1])) > 0, "more visits, and more late views", 400)
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
        ended = process.wait(300)
    assert ended == 0, logs[1].read_text()[-4000:]
    assert re.search(r"[1-9]\d* views, 0 lost, 0 twice", logs[1].read_text())
