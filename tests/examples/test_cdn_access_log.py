"""The example of a CDN's access log counts every access once, also when it is killed."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from deployments import killed_at_the_end
from provinces import UNKNOWN, Provinces
from sessions import wait_until

pytest.importorskip("confluent_kafka", reason="there is no Kafka client for this Python")

import browser
from generator import access, statistics

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "table-api" / "cdn-access-log.png"


def test_the_longest_prefix_decides() -> None:
    provinces = Provinces()
    assert provinces.of("10.128.1.1") == "Shandong"
    assert provinces.of("10.128.65.1") == "Qinghai"
    assert {provinces.of(each) for each in ("203.0.113.7", "nonsense", "")} == {UNKNOWN}


def test_sums_of_lines() -> None:
    lines = [access(number).line for number in range(500)]
    found = statistics(lines)
    assert sum(visits for visits, _, _ in found.values()) == 500
    assert sum(size for _, size, _ in found.values()) == sum(
        int(line.split(",")[3]) for line in lines
    )
    provinces = Provinces()
    counts = Counter(provinces.of(line.split(",")[1]) for line in lines)
    assert {name: visits for name, (visits, _, _) in found.items()} == counts


def _visits(log: Path) -> int:
    counted = re.findall(r"^([\d,]+) visits counted", log.read_text(), re.MULTILINE)
    return int(counted[-1].replace(",", "")) if counted else 0


@pytest.mark.complete
def test_every_access_is_counted_once(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The table program is killed, then the whole example, which goes on where it was."""
    log = tmp_path / "example.log"
    command = [
        *(sys.executable, ROOT / "examples/cdn_access_log/main.py", "--folder", tmp_path),
        *("--rate", "100"),
    ]
    with killed_at_the_end(command, tmp_path, log):
        wait_until(lambda: _visits(log) > 0, "visits are counted", 400)
        job = int(re.findall(r"table program: process (\d+)", log.read_text())[0])
        os.killpg(job, signal.SIGKILL)
        before = _visits(log)
        wait_until(lambda: _visits(log) > before, "more visits are counted", 400)
    assert "started again" in log.read_text()

    with killed_at_the_end(command, tmp_path, log) as process:
        before = _visits(log)
        wait_until(lambda: _visits(log) > before, "more visits are counted", 400)
        address = re.findall(r"http://127\.0\.0\.1:\d+/", log.read_text())[-1]
        picture = tmp_path / "page.png"
        with browser.opened(address, tmp_path, 1100, 500) as page:
            wait_until(lambda: _shown(page) > 0, "the page shows visits", 100)
            first = _shown(page)
            wait_until(lambda: _shown(page) > first, "the page shows more visits", 400)
            page.write_picture(picture)
        process.send_signal(signal.SIGINT)
        assert process.wait(400) == 0, log.read_text()[-4000:]
    assert picture.stat().st_size > 10_000, "an empty page"
    if request.config.getoption("--write-docs"):
        PICTURE.write_bytes(picture.read_bytes())
    assert re.search(r"lines, \d+ provinces, 0 with other figures", log.read_text())


@pytest.mark.complete
def test_a_service_runs_the_table_program(tmp_path: Path) -> None:
    """Uploaded, run and cancelled by curl."""
    log = tmp_path / "example.log"
    command = [
        *(sys.executable, ROOT / "examples/cdn_access_log/main.py", "--folder", tmp_path),
        *("--rate", "100", "--seconds", "5", "--rest"),
    ]
    with killed_at_the_end(command, tmp_path, log) as process:
        assert process.wait(600) == 0, log.read_text()[-4000:]

    assert re.search(r"lines, \d+ provinces, 0 with other figures", log.read_text())
    assert re.search(r"^job \w{32}$", (tmp_path / "job.log").read_text(), re.MULTILINE)


def _shown(page: browser.Page) -> int:
    """The visits that a page shows."""
    found = re.search(r"CDN access log: ([\d,]+) visits", page.text())
    return int(found[1].replace(",", "")) if found else 0
